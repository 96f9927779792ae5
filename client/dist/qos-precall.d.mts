/*! qos 0.1.0 | Apache-2.0 */
export {};
