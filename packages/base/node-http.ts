/**
 * Node's HTTP server. An `import` of `node:http` takes all that it exports, its WebSocket among it, and with that loads the whole client behind Node's `fetch`: 0.07 s of
 * each start and 14 MiB that nobody uses.
 */
export const { createServer } = process.getBuiltinModule("node:http");
