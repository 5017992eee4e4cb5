/** A provider's Service, Secrets, ConfigMap and Deployment. Pure. */
import { Fault } from "@slipway/base";
import type { Service } from "@slipway/kube/core";
import { secretYaml } from "../../../../bootstrap/secret-yaml.ts";
import type { Auth } from "../../../../kinds/sip/services.ts";
import type { Manifest } from "../../../../tenants/deployment/wanted.ts";
import { besides, checkedPort, checksumOf, dataOf, type Entry, metadataOf, nameOf, pathOf } from "../entry.ts";
import { deploymentOf, serviceOf } from "../pods.ts";
import type { Rendered } from "../rendered.ts";
import type { DexKeys } from "./dex-certificate.ts";
import { CLIENT_ID, DEX_PORT, dexConfig, TLS_FOLDER } from "./dex-config.ts";
import { type OidcSettings, oidcSettings } from "./oidc-settings.ts";

const CONFIG_FOLDER = "/etc/dex/config";
/** Nobody's. */
const UID = 65_534;

/** The Secret of the provider's certificate. */
export const dexKeysName = (entry: Entry): string => besides(entry, "keys");

/** The Service comes first: its port is part of the issuer. */
export function authService(entry: Entry, { nodePort }: Auth): Manifest<Service> {
  const port = checkedPort(nodePort, `${pathOf(entry)}.nodePort`, 0);
  return serviceOf(entry, [{ name: "https", port: DEX_PORT, nodePort: port }]);
}

/** The host of the issuer. Throws `MissingInput` where nothing says it. */
export function issuerHost(entry: Entry, { clusterIP }: Auth): string {
  if (clusterIP) return clusterIP;
  throw new Fault("MissingInput", `${pathOf(entry)}.clusterIP`, "the issuer has no address", {
    remedy: "set the address at which the nodes of this cluster are reached",
  });
}

export interface AuthInput {
  host: string;
  nodePort: number;
  keys: DexKeys;
  /** The texts of the Secret that `configSecret` names. */
  config: Readonly<Record<string, string>>;
  apiServer: OidcSettings["apiServer"];
}

/** The objects of one OpenID Connect provider. Throws a `Fault` (`Invalid`) that names the field which can't be deployed. */
export function auth(entry: Entry, fields: Auth, { host, nodePort, keys, config, apiServer }: AuthInput): Rendered {
  const issuer = `https://${host.includes(":") ? `[${host}]` : host}:${nodePort}/dex`;
  const on = `${pathOf(entry)}.configSecret`;
  const [connectors, staticPasswords] = ["connectors", "staticPasswords"].map((key) =>
    listIn(config[key], `${on} ${key}`),
  );
  const opaque = { apiVersion: "v1", kind: "Secret", type: "Opaque" };
  const secret = {
    ...{ ...opaque, metadata: metadataOf(entry) },
    data: dataOf({ "config.yaml": dexConfig({ issuer, connectors: connectors!, staticPasswords: staticPasswords! }) }),
  };
  const certificate = { ...opaque, metadata: metadataOf(entry, dexKeysName(entry)), data: dataOf(keys) };
  const settings = {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(entry, besides(entry, "settings")) },
    data: oidcSettings({ issuer, caPem: keys["ca.crt"]!, apiServer }),
  };
  const deployment = deploymentOf(entry, fields, {
    configuration: checksumOf([secret, certificate]),
    containers: [container(fields)],
    volumes: [
      { name: "config", secret: { secretName: nameOf(entry) } },
      {
        name: "tls",
        secret: { secretName: dexKeysName(entry), items: ["tls.crt", "tls.key"].map((key) => ({ key, path: key })) },
      },
    ],
  });
  const ca = keys["ca.crt"]!;
  const oidc = { issuer, clientID: CLIENT_ID, ca, configMap: settings.metadata.name };
  return {
    service: authService(entry, fields),
    secrets: [secret, certificate],
    configMaps: [settings],
    deployment,
    oidc,
  };
}

function listIn(text: string | undefined, on: string): unknown[] {
  const value = text === undefined ? [] : (secretYaml(text, on) ?? []);
  if (Array.isArray(value)) return value;
  throw new Fault("Invalid", on, "it is no YAML list");
}

function container({ image }: Auth): object {
  const probe = { httpGet: { path: "/dex/healthz", port: DEX_PORT, scheme: "HTTPS" } };
  return {
    ...{ name: "dex", image, imagePullPolicy: "IfNotPresent" },
    command: ["dex", "serve", `${CONFIG_FOLDER}/config.yaml`],
    ports: [{ name: "https", containerPort: DEX_PORT, protocol: "TCP" }],
    readinessProbe: { ...probe, periodSeconds: 5 },
    livenessProbe: { ...probe, initialDelaySeconds: 10, periodSeconds: 10 },
    resources: { requests: { cpu: "10m", memory: "64Mi" } },
    securityContext: {
      ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: UID, readOnlyRootFilesystem: true },
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [
      { name: "config", mountPath: CONFIG_FOLDER, readOnly: true },
      { name: "tls", mountPath: TLS_FOLDER, readOnly: true },
    ],
  };
}
