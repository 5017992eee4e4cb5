import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Clock, Fault } from "@slipway/base";
import { load } from "js-yaml";
import { type Certificates, renewedCertificates } from "./certificate-files.ts";
import type { Connection } from "./connection.ts";
import { fileToken, fixedToken, pluginCredentials } from "./credentials.ts";

export interface ConnectionSource {
  /** Path of a kubeconfig. Unset: `KUBECONFIG` (its first file), then the Pod's service account. */
  kubeconfig?: string;
  /** Unset: the file's current one. */
  context?: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Finds out how to reach the cluster. Throws `MissingInput` when nothing says it. */
export async function loadConnection(source: ConnectionSource): Promise<Connection> {
  const { env, clock, context } = source;
  const file = source.kubeconfig ?? env.KUBECONFIG?.split(":").find((path) => path !== "");
  if (file !== undefined) return fromKubeconfig(file, { clock, ...(context === undefined ? {} : { context }) });
  if (env.KUBERNETES_SERVICE_HOST !== undefined) return inCluster(env, clock);
  throw new Fault("MissingInput", "Kubernetes API", "neither a kubeconfig is given nor does this run in a Pod", {
    remedy: "give --kubeconfig or set KUBECONFIG",
  });
}

/** The connection that a Pod's service account gives. Its token is read anew as the kubelet renews it. */
export async function inCluster(
  env: ConnectionSource["env"],
  clock: Clock,
  directory = SERVICE_ACCOUNT,
): Promise<Connection> {
  const host = env.KUBERNETES_SERVICE_HOST ?? "kubernetes.default.svc";
  const port = env.KUBERNETES_SERVICE_PORT ?? "443";
  const certificates = async (): Promise<Certificates> => ({ ca: await read(`${directory}/ca.crt`) });
  const [first, namespace] = await Promise.all([certificates(), read(`${directory}/namespace`)]);
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    ...first,
    certificates: renewedCertificates(clock, first, certificates),
    namespace: namespace.trim(),
    authorization: fileToken(`${directory}/token`, clock),
  };
}

interface Named {
  name?: string;
}
interface KubeconfigCluster {
  server?: string;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
  "proxy-url"?: string;
}
interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  "client-certificate"?: string;
  "client-certificate-data"?: string;
  "client-key"?: string;
  "client-key-data"?: string;
  exec?: object;
  "auth-provider"?: object;
}
interface Kubeconfig {
  "current-context"?: string;
  contexts?: (Named & { context?: { cluster?: string; user?: string; namespace?: string } })[];
  clusters?: (Named & { cluster?: KubeconfigCluster })[];
  users?: (Named & { user?: KubeconfigUser })[];
}

/** The connection that a context of a kubeconfig file describes. Paths in it are relative to the file. Throws `Invalid`, naming what is missing. */
export async function fromKubeconfig(file: string, options: { clock: Clock; context?: string }): Promise<Connection> {
  const { name, context, server, cluster, user } = chosen(parse(await read(file), file), file, options.context);
  const base = dirname(file);
  const pem = (data: string | undefined, path: string | undefined): Promise<string | undefined> | string | undefined =>
    data !== undefined ? Buffer.from(data, "base64").toString("utf8") : path && read(resolve(base, path));
  const certificates = async (): Promise<Certificates> =>
    given({
      ca: await pem(cluster["certificate-authority-data"], cluster["certificate-authority"]),
      cert: await pem(user["client-certificate-data"], user["client-certificate"]),
      key: await pem(user["client-key-data"], user["client-key"]),
    });
  const first = await certificates();
  const inFiles = cluster["certificate-authority"] ?? user["client-certificate"] ?? user["client-key"];
  const plugin = user.exec !== undefined || user["auth-provider"] !== undefined;
  const credentials = plugin ? await pluginCredentials(file, name, options.clock) : undefined;
  const authorization = credentials?.authorization ?? headerOf(user, base, options.clock);
  return {
    server,
    ...given({ cert: credentials?.cert, key: credentials?.key, authorization }),
    ...first,
    ...(inFiles !== undefined &&
      credentials?.cert === undefined && {
        certificates: renewedCertificates(options.clock, first, certificates),
      }),
    ...given({ serverName: cluster["tls-server-name"], namespace: context.namespace }),
    ...(cluster["insecure-skip-tls-verify"] === true ? { insecure: true } : {}),
  };
}

/**
 * The connection of a kubeconfig that holds everything itself, such as one in a Secret. Throws `Invalid`, naming `on` and what is wrong: it may
 * name no files and no programs, which would be read and run here.
 */
export function connectionOf(text: string, on: string, clock: Clock): Connection {
  const { context, server, cluster, user } = chosen(parse(text, on), on, undefined);
  const outside = [cluster["certificate-authority"], user["client-certificate"], user["client-key"], user.tokenFile];
  if (outside.some((path) => path !== undefined)) throw invalid(on, "it names files; their contents must be in it");
  if (user.exec !== undefined || user["auth-provider"] !== undefined)
    throw invalid(on, "it names a plugin; credentials must be in it");
  const pem = (data: string | undefined) => data && Buffer.from(data, "base64").toString("utf8");
  return {
    server,
    ...given({
      ca: pem(cluster["certificate-authority-data"]),
      cert: pem(user["client-certificate-data"]),
      key: pem(user["client-key-data"]),
      authorization: headerOf(user, "", clock),
      serverName: cluster["tls-server-name"],
      namespace: context.namespace,
    }),
    ...(cluster["insecure-skip-tls-verify"] === true ? { insecure: true } : {}),
  };
}

/** The parts of a kubeconfig that a context names. */
function chosen(config: Kubeconfig, on: string, wanted: string | undefined) {
  const name = wanted ?? config["current-context"] ?? "";
  const context = config.contexts?.find((c) => c.name === name)?.context;
  if (context === undefined) throw invalid(on, `it has no context "${name}"`);
  const cluster = config.clusters?.find((c) => c.name === context.cluster)?.cluster;
  if (cluster?.server === undefined) throw invalid(on, `cluster "${context.cluster ?? ""}" has no server`);
  if (cluster["proxy-url"] !== undefined) throw invalid(on, "proxy-url is not supported");
  if (!/^https?:\/\//.test(cluster.server) || !URL.canParse(cluster.server))
    throw invalid(on, `server "${cluster.server}" is not an http or https URL`);
  const user = config.users?.find((u) => u.name === context.user)?.user ?? {};
  return { name, context, server: cluster.server, cluster, user };
}

function headerOf(user: KubeconfigUser, base: string, clock: Clock): Connection["authorization"] {
  // As kubectl does: a token file is preferred, since it may be renewed.
  if (user.tokenFile) return fileToken(resolve(base, user.tokenFile), clock);
  if (user.token) return fixedToken(`Bearer ${user.token}`);
  if (user.username === undefined) return undefined;
  return fixedToken(`Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}`);
}

function parse(text: string, file: string): Kubeconfig {
  let value: unknown;
  try {
    value = load(text);
  } catch {
    // The parser's message quotes the text, which may be a credential.
    throw invalid(file, "it is not YAML");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(file, "it is not a mapping");
  for (const list of ["contexts", "clusters", "users"] as const) {
    const entries = (value as Record<string, unknown>)[list];
    if (entries !== undefined && entries !== null && !Array.isArray(entries))
      throw invalid(file, `${list} is not a list`);
  }
  return value as Kubeconfig;
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new Fault("MissingInput", path, "the file can't be read", { cause });
  }
}

/** The entries that have a value. */
function given<T extends object>(of: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as never;
}

function invalid(file: string, what: string): Fault {
  return new Fault("Invalid", file, what, { remedy: "check the kubeconfig, for instance by kubectl config view" });
}
