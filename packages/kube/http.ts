/** The way to a Kubernetes API over HTTP: a kubeconfig or the Pod's own account, sockets, TLS, renewed credentials. */
export type { Connection } from "./connection.ts";
export { createHttpTransport } from "./http-transport.ts";
export { connectionOf, loadConnection } from "./kubeconfig.ts";
