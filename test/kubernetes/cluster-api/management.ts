/** A management cluster: an API with upstream Cluster API installed by clusterctl and its managers as processes, each with its own account. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApiServer } from "@slipway/apiserver";
import { EXTRAS } from "@slipway/apiserver/extras";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";
import { laptopIdentity } from "../../../src/laptop/identity.ts";
import { createAuthority, issueServer } from "../../../src/pki/authority.ts";
import { kubeconfig } from "../../../src/pki/kubeconfig.ts";
import { startCluster } from "../cluster.ts";
import { freePort } from "../free-port.ts";
import { until } from "../live.ts";
import { type Components, writeRepository } from "./components.ts";
import type { Programs } from "./programs.ts";

const START_MS = 120_000;
const CLUSTERCTL_MS = 120_000;

/** What webhooks serve with, and whom their callers trust. */
export interface Serving {
  authorityPem: string;
  certificatePem: string;
  keyPem: string;
}

/** A new authority, and a certificate of it for 127.0.0.1. */
export async function webhookServing(): Promise<Serving> {
  const ca = await createAuthority({ commonName: "webhooks", clock });
  const issued = await issueServer(ca, { commonName: "webhook", hosts: ["127.0.0.1"], clock });
  return { authorityPem: ca.certificatePem, certificatePem: issued.certificatePem, keyPem: issued.keyPem };
}

/** The API that Cluster API is installed on. */
export interface Api {
  kubeconfigFile: string;
  /** The administrator's way in, where the API is in this process. */
  transport?: Transport;
  close(): Promise<void>;
}

/** The embedded API on a port, with its kubeconfig in `dir`. */
export async function embeddedApi(dir: string): Promise<Api> {
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const authority = identity.serving.clientCa!;
  const api = await createApiServer({ extras: EXTRAS, clock, random, log: quietLog, authority });
  const { url } = await api.listen({ tls: identity.serving });
  const kubeconfigFile = join(dir, "kubeconfig");
  await writeFile(kubeconfigFile, identity.kubeconfig(url), { mode: 0o600 });
  return { kubeconfigFile, transport: api.transport(), close: () => api.close() };
}

/** What kube-controller-manager does that the embedded API does by itself. */
export const CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "root-ca-certificate-publisher-controller",
  "clusterrole-aggregation-controller",
];

/** kube-apiserver with etcd and the controllers that the embedded API has built in. */
export async function realApi(): Promise<Api> {
  const { plane, close } = await startCluster({ controllers: CONTROLLERS });
  return { kubeconfigFile: plane.kubeconfigFile, close };
}

export interface Management {
  kubeconfigFile: string;
  /** The administrator's way in. */
  transport: Transport;
  clusterctl(...args: string[]): Promise<string>;
  /** Starts one provider's manager, and waits until it is healthy and serves its webhooks. */
  start(program: string): Promise<void>;
  stop(program: string): Promise<void>;
  /** What a manager said, all in all. */
  said(program: string): Promise<string>;
  close(): Promise<void>;
}

export interface ManagementOptions {
  programs: Programs;
  components: readonly Components[];
  serving: Serving;
  api(dir: string): Promise<Api>;
  /** Ports that webhooks are to be reached at, by program; any free one for the others. */
  ports?: ReadonlyMap<string, number>;
  /** More for `clusterctl init`: `--control-plane -` for none, since it would look for its default on the network. */
  init?: readonly string[];
}

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Starts an API and installs Cluster API on it; no manager runs yet. */
export async function startManagement({
  programs,
  components,
  serving,
  api: startApi,
  ...options
}: ManagementOptions): Promise<Management> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-cluster-api-"));
  const file = (name: string): string => join(dir, name);
  const api = await startApi(dir);
  const connection = await loadConnection({ kubeconfig: api.kubeconfigFile, env: {}, clock });
  const transport = api.transport ?? createHttpTransport(connection);
  const running = new Map<string, KeptProcess>();

  await mkdir(file("webhook"));
  await writeFile(file("webhook/tls.crt"), serving.certificatePem);
  await writeFile(file("webhook/tls.key"), serving.keyPem, { mode: 0o600 });
  const ports = new Map(options.ports);
  for (const { provider } of components)
    if (!ports.has(provider.program)) ports.set(provider.program, await freePort());
  const { config, init } = await writeRepository(dir, components, programs, { ports, authority: serving.authorityPem });

  const ask = async (method: "GET" | "POST", path: string, body?: object) => {
    const answer = await transport.request({ method, path, ...(body && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Record<string, never>;
  };
  const clusterctl = async (...args: string[]): Promise<string> => {
    const env = { PATH: process.env.PATH, HOME: dir, XDG_CONFIG_HOME: dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
    const all = [...args, "--config", config];
    try {
      const { stdout, stderr } = await promisify(execFile)(join(programs.folder, "clusterctl"), all, {
        env,
        timeout: CLUSTERCTL_MS,
        maxBuffer: 64 << 20,
      });
      return stderr + stdout;
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`clusterctl ${args.join(" ")}\n${stderr}${stdout}`, { cause: error });
    }
  };

  await Promise.all(["Issuer", "Certificate"].map((kind) => ask("POST", DEFINITIONS, certManagerStub(kind))));
  await clusterctl("init", "--kubeconfig", api.kubeconfigFile, ...init, ...(options.init ?? []));

  return {
    kubeconfigFile: api.kubeconfigFile,
    transport,
    clusterctl,
    async start(program) {
      const { namespace, serviceAccount, flags } = components.find(({ provider }) => provider.program === program)!;
      const token = await ask("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 3600 },
      });
      const { server, ca: caPem } = connection;
      const account = file(`${program}.kubeconfig`);
      const text = kubeconfig({
        name: program,
        server,
        ...(caPem && { caPem }),
        token: (token.status as unknown as { token: string }).token,
      });
      await writeFile(account, text, { mode: 0o600 });
      const health = await freePort();
      const child = new KeptProcess({
        command: "/usr/bin/env",
        args: [
          ...Object.entries({ POD_NAMESPACE: namespace, POD_NAME: program, POD_UID: program, POD_IP: "127.0.0.1" }).map(
            ([name, value]) => `${name}=${value}`,
          ),
          join(programs.folder, program),
          ...flags,
          `--kubeconfig=${account}`,
          `--webhook-port=${ports.get(program)}`,
          `--webhook-cert-dir=${file("webhook")}`,
          `--health-addr=127.0.0.1:${health}`,
          "--diagnostics-address=127.0.0.1:0",
          "--insecure-diagnostics",
        ],
        logFile: file(`${program}.log`),
      });
      running.set(program, child);
      const ready = async (): Promise<boolean> => {
        if (!child.running) throw new Error(`${program} ended\n${await child.lastWords()}`);
        return await fetch(`http://127.0.0.1:${health}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      };
      await until(`${program} is ready`, ready, START_MS, () => child.lastWords());
    },
    async stop(program) {
      await running.get(program)?.stop();
      running.delete(program);
    },
    said: (program) => readFile(file(`${program}.log`), "utf8").catch(() => ""),
    async close() {
      for (const child of running.values()) await child.stop("KILL");
      await transport.close();
      await api.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Enough of cert-manager for clusterctl to take it for installed; the webhooks have certificates already. */
export function certManagerStub(kind: string): object {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cert-manager.io` },
    spec: {
      group: "cert-manager.io",
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}
