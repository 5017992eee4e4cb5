/** Dex's configuration. Pure; JSON, which is YAML, so that nothing that is given can add a line. */
export interface DexSettings {
  issuer: string;
  /** As Dex's configuration has them. */
  connectors: readonly unknown[];
  staticPasswords: readonly unknown[];
}

export const CLIENT_ID = "kubernetes";
export const DEX_PORT = 5556;
export const TLS_FOLDER = "/etc/dex/tls";

/** Where the provider listens, and its certificate is. */
export interface DexPlaces {
  listen: string;
  tls: string;
}

const IN_POD: DexPlaces = { listen: `0.0.0.0:${DEX_PORT}`, tls: TLS_FOLDER };

/** The one client is public: kubeconfigs for users hold nothing secret. Such a client is sent back to localhost only. */
export function dexConfig(
  { issuer, connectors, staticPasswords }: DexSettings,
  { listen, tls }: DexPlaces = IN_POD,
): string {
  const config = {
    issuer,
    storage: { type: "memory" },
    web: { https: listen, tlsCert: `${tls}/tls.crt`, tlsKey: `${tls}/tls.key` },
    oauth2: { skipApprovalScreen: true },
    ...(connectors.length > 0 && { connectors }),
    enablePasswordDB: staticPasswords.length > 0 || connectors.length === 0,
    ...(staticPasswords.length > 0 && { staticPasswords }),
    staticClients: [
      {
        id: CLIENT_ID,
        name: "Kubernetes",
        public: true,
        redirectURIs: ["http://localhost:8000", "http://localhost:18000"],
      },
    ],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
