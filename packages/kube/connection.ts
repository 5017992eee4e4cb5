import type { Certificates } from "./certificate-files.ts";

/** How to reach an API and who we are there. PEM texts; nothing of it is ever logged. */
export interface Connection {
  /** `https://host:port`, with a path where the API is behind a prefix. */
  server: string;
  ca?: string;
  cert?: string;
  key?: string;
  /** The name in the server's certificate, when it is not the host of `server`. */
  serverName?: string;
  /** The peer is not verified. Only when the user's kubeconfig says so. */
  insecure?: boolean;
  /** The Authorization header; asked for each request. `fresh`: the last one was refused (401). */
  authorization?: (fresh: boolean) => Promise<string | undefined>;
  /** `ca`, `cert` and `key` where they may be renewed while we run; asked for each request. `fresh`: as above. */
  certificates?: (fresh: boolean) => Promise<Certificates>;
  /** Namespace of the kubeconfig's context, or of the Pod. */
  namespace?: string;
}
