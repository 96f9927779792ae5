// A module of the application that is CommonJS still.
exports.library = require('@qosrtc/client');
