/**
 * Node's HTTP servers. An import of `node:http` would read all that it exports, which loads Node's own fetch and WebSocket: a twentieth
 * of each start, for what nobody uses here.
 */
export const { createServer } = process.getBuiltinModule("node:http");
