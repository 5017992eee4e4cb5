/**
 * The Kubernetes API as a library: `createApiServer` gives a server that answers by direct call or on a port over TLS, in memory or with
 * a journal on disk. What it serves behaves as kube-apiserver does for the same request. Needs a clock, randomness and a log.
 */
export type { Conversions } from "./conversion/strategy.ts";
export type { Listening, ListenOptions } from "./http/face.ts";
export type { Body } from "./model/served.ts";
export { ADMIN, type ApiServer, type ApiServerOptions, createApiServer } from "./server.ts";
export { openJournal } from "./storage/open-journal.ts";
