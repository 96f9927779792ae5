// A certified OpenID provider (npm oidc-provider) for the tests of sign-in. It reads commands from its
// standard input, one JSON object a line, and answers each with a line:
//
//   {"listen": port}                a port of loopback, 0: any; answers {"issuer"}
//   {"clients": [...]}              registers the clients in place of those before
//   {"account": id, "claims": {}}   an account; the login page accepts any password
//   {"rotate": true}                replaces the signing keys
//   {"clockMs": n}                  the provider's clock differs by so much from that of the machine
//   {"delayMs": n}                  each answer is so late
//   {"down": true}                  closes the port and all connections; {"listen"} opens it again
//   {"reset": true}                 closes the port, and undoes all commands but {"rotate"}
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Provider } from "oidc-provider";

const realNow = Date.now;
const accounts = new Map();
const cookieKeys = [randomBytes(32).toString("hex")];
let clients = [];
let issuer;
let server;
let provider;
let keys;
let delayMs = 0;

/** One new key; its kid is random. */
function newKeys() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const kid = () => randomBytes(8).toString("hex");
  return [
    { ...rsa.export({ format: "jwk" }), kid: kid(), use: "sig", alg: "RS256" },
    { ...privateKey.export({ format: "jwk" }), kid: kid(), use: "sig", alg: "ES256" },
  ];
}

/** Makes the provider anew: clients and keys are those of its construction. */
function make() {
  keys ??= newKeys();
  provider = new Provider(issuer, {
    clients,
    jwks: { keys },
    cookies: { keys: cookieKeys },
    claims: { openid: ["sub"], profile: ["name"], qos: ["roles", "apps"], email: ["email", "email_verified"] },
    scopes: ["openid", "profile", "qos", "email"],
    // The first claims are in the ID token of clients that ask for it, else at the UserInfo endpoint: the default.
    conformIdTokenClaims: true,
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    pkce: { required: () => true },
    ttl: { AccessToken: 3600, IdToken: 3600, Grant: 86400, Session: 86400, Interaction: 3600, AuthorizationCode: 60 },
    findAccount: (_, id) => accounts.has(id) && { accountId: id, claims: () => ({ ...accounts.get(id), sub: id }) },
    // Users of the one client need not consent.
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope("openid profile qos email");
      await grant.save();
      return grant;
    },
  });
  provider.on("server_error", (_, err) => process.stderr.write(`${err.stack}\n`));
  const serve = provider.callback();
  server.removeAllListeners("request");
  server.on("request", (...request) => setTimeout(serve, delayMs, ...request));
}

function listen(port) {
  return new Promise((resolve, reject) => {
    server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      issuer = `http://127.0.0.1:${server.address().port}`;
      make();
      resolve({ issuer });
    });
  });
}

const commands = {
  listen,
  clients: (list) => { clients = list; make(); },
  account: (id, command) => { accounts.set(id, command.claims); },
  rotate: () => { keys = newKeys(); make(); },
  clockMs: (ms) => { Date.now = () => realNow() + ms; },
  delayMs: (ms) => { delayMs = ms; },
  down: () => new Promise((resolve) => { server.close(() => resolve({})); server.closeAllConnections(); }),
  reset: async () => {
    await commands.down();
    accounts.clear();
    clients = [];
    delayMs = 0;
    Date.now = realNow;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const name = Object.keys(command)[0];
  try {
    const answer = await commands[name](command[name], command);
    process.stdout.write(`${JSON.stringify(answer ?? {})}\n`);
  } catch (err) {
    process.stdout.write(`${JSON.stringify({ error: String(err.stack) })}\n`);
  }
}
process.exit(0); // the tests have ended
