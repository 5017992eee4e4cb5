/**
 * What a management cluster does with tenants' Deployments: gives their Services addresses of loopback, and runs for each an embedded API
 * there, with the flags and files of its Pods. A Pod whose flags name files that it does not have never gets ready.
 */
import { isDeepStrictEqual } from "node:util";
import { type ApiServer, createApiServer } from "@slipway/apiserver";
import { asFault, type Clock, isFault, isoTime, type Log, type Random, type Timer } from "@slipway/base";
import { type Client, keyOf, type Ref, refOf } from "@slipway/kube";
import { Deployment, Service } from "@slipway/kube/core";
import { follow } from "../site/follow.ts";
import { type Container, type PodSpec, readPodEnv, readPodFile } from "./pod-files.ts";

export interface ManagementPorts {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
}

type Face = Awaited<ReturnType<ApiServer["listen"]>>;
interface Running {
  face: Face;
  /** The template that it runs. */
  template: string;
}

const RESTART_MS = 1_000;
const API_SERVER = "kube-apiserver";
const FILE_FLAG = /(-file|-key|-certificate|kubeconfig)$/;

/** Runs what is asked for until `close`. */
export class SimulatedManagement {
  readonly #ports: ManagementPorts;
  readonly #stop = new AbortController();
  readonly #following: Promise<unknown>;
  /** Objects outlive Pods, as in a datastore: by the prefix of their keys. */
  readonly #data = new Map<string, { api: ApiServer; version: { reported: string } }>();
  readonly #running = new Map<string, Running>();
  /** API servers that could not listen and are started again, as a kubelet starts a container that ended. */
  readonly #restarts = new Map<string, Timer>();
  /** One step after the other. */
  #turn: Promise<void> = Promise.resolve();
  #addresses = 1;

  constructor(ports: ManagementPorts) {
    this.#ports = ports;
    const { client, clock } = ports;
    const signal = this.#stop.signal;
    const wake = ({ metadata }: Service | Deployment): void =>
      this.#soon({ ...metadata, namespace: metadata.namespace! });
    this.#following = Promise.all([
      follow({ client, clock, signal, resource: Service, changed: wake, gone: wake }),
      follow({ client, clock, signal, resource: Deployment, changed: wake, gone: wake }),
    ]);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await this.#turn;
    for (const restart of this.#restarts.values()) restart.cancel();
    for (const { face } of this.#running.values()) await face.close();
    for (const { api } of this.#data.values()) await api.close();
  }

  #soon(ref: Required<Ref>): void {
    this.#turn = this.#turn.then(async () => {
      if (this.#stop.signal.aborted) return;
      try {
        await this.#step({ namespace: ref.namespace, name: ref.name });
      } catch (error) {
        // Somebody wrote meanwhile, which wakes it again.
        if (!isFault(error, "Conflict", "NotFound"))
          this.#ports.log.error({ err: error }, "the simulated cluster failed");
      }
    });
  }

  async #step(ref: Required<Ref>): Promise<void> {
    const { client } = this.#ports;
    const service = await client.find(Service, ref);
    const isOurs = service?.spec?.type === "LoadBalancer" && service.spec.loadBalancerClass === undefined;
    if (isOurs && service.status?.loadBalancer?.ingress === undefined) {
      const ip = `127.0.0.${++this.#addresses}`;
      await client.updateStatus(Service, { ...service, status: { loadBalancer: { ingress: [{ ip }] } } });
      return;
    }
    const deployment = await client.find(Deployment, ref);
    if (deployment === undefined || deployment.spec?.replicas === 0) await this.#end(ref);
    if (deployment === undefined || service === undefined) return;
    const trouble = deployment.spec?.replicas === 0 ? undefined : await this.#run(deployment, service);
    await this.#report(deployment, trouble);
  }

  async #end(ref: Required<Ref>): Promise<void> {
    const running = this.#running.get(keyOf(ref));
    this.#running.delete(keyOf(ref));
    this.#restarts.get(keyOf(ref))?.cancel();
    this.#restarts.delete(keyOf(ref));
    await running?.face.close();
  }

  /** Has the API server listen. Resolves with why it can't. */
  async #run(deployment: Deployment, service: Service): Promise<string | undefined> {
    const ref = refOf(deployment) as Required<Ref>;
    const template = JSON.stringify(deployment.spec?.template);
    if (this.#running.get(keyOf(ref))?.template === template) return undefined;
    const host = service.status?.loadBalancer?.ingress?.[0]?.ip;
    if (host === undefined) return "no address of this host";
    const pod = deployment.spec!.template!.spec as unknown as PodSpec;
    const missing = await this.#missingFile(ref.namespace, pod);
    if (missing !== undefined) return missing;
    const container = pod.containers.find(({ name }) => name === API_SERVER)!;
    const flags = flagsOf(container);
    const text = async (flag: string): Promise<string> =>
      (await readPodFile(this.#ports.client, ref.namespace, pod, { container, path: flags.get(flag)! }))!;
    const place = await this.#placeOf(ref.namespace, pod, flags);
    if (place === undefined) return "kine does not know its database (KINE_ENDPOINT)";
    const { api, version } = await this.#apiOf(place, flags, text);
    version.reported = container.image.slice(container.image.lastIndexOf(":") + 1);
    await this.#end(ref);
    const tls = {
      cert: await text("tls-cert-file"),
      key: await text("tls-private-key-file"),
      clientCa: await text("client-ca-file"),
    };
    try {
      const face = await api.listen({ host, port: Number(flags.get("secure-port")), tls });
      this.#running.set(keyOf(ref), { face, template });
      return undefined;
    } catch (error) {
      this.#restarts.set(
        keyOf(ref),
        this.#ports.clock.after(RESTART_MS, () => this.#soon(ref)),
      );
      return asFault(error, `${host}:${flags.get("secure-port")}`).message;
    }
  }

  async #missingFile(namespace: string, pod: PodSpec): Promise<string | undefined> {
    for (const container of pod.containers)
      for (const [flag, path] of flagsOf(container)) {
        if (!FILE_FLAG.test(flag) || !path.startsWith("/etc/kubernetes/")) continue;
        const text = await readPodFile(this.#ports.client, namespace, pod, { container, path });
        if (text === undefined) return `${container.name} has no file ${path} (--${flag})`;
      }
    return undefined;
  }

  /** Where its objects are: the prefix of an etcd, or the database of its kine and the user there. */
  async #placeOf(namespace: string, pod: PodSpec, flags: ReadonlyMap<string, string>): Promise<string | undefined> {
    const kine = pod.containers.find(({ name }) => name === "kine");
    if (kine === undefined) return flags.get("etcd-prefix") ?? "";
    const isHeard = kine.args?.includes(`--listen-address=${flags.get("etcd-servers")}`);
    const endpoint = await readPodEnv(this.#ports.client, namespace, kine, "KINE_ENDPOINT");
    return isHeard ? endpoint?.replace(/:[^:@]*@/, "@") : undefined;
  }

  async #apiOf(place: string, flags: ReadonlyMap<string, string>, text: (flag: string) => Promise<string>) {
    const { clock, random, log } = this.#ports;
    const held = this.#data.get(place);
    if (held !== undefined) return held;
    const version = { reported: "" };
    const accountTokens = {
      key: await text("service-account-signing-key-file"),
      issuer: flags.get("service-account-issuer")!,
    };
    const authority = await text("client-ca-file");
    const api = await createApiServer({
      ...{ clock, random, log, authority, accountTokens },
      serviceCidrs: flags.get("service-cluster-ip-range")!.split(","),
      version: () => version.reported,
    });
    const made = { api, version };
    this.#data.set(place, made);
    return made;
  }

  async #report(deployment: Deployment, trouble: string | undefined): Promise<void> {
    const replicas = deployment.spec?.replicas ?? 1;
    const ready = trouble === undefined ? replicas : 0;
    const time = isoTime(this.#ports.clock.now());
    const before = deployment.status?.conditions?.find(({ type }) => type === "Progressing");
    const progressing = {
      ...{ type: "Progressing", status: trouble === undefined ? "True" : "False" },
      ...{
        reason: trouble === undefined ? "NewReplicaSetAvailable" : "ProgressDeadlineExceeded",
        message: trouble ?? "",
      },
      ...{ lastTransitionTime: before?.lastTransitionTime ?? time, lastUpdateTime: before?.lastUpdateTime ?? time },
    };
    const status = {
      observedGeneration: deployment.metadata.generation ?? 0,
      ...(replicas > 0 && { replicas, updatedReplicas: replicas }),
      ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
      ...(replicas > ready && { unavailableReplicas: replicas - ready }),
      conditions: [progressing],
    };
    if (isDeepStrictEqual(status, deployment.status)) return;
    await this.#ports.client.updateStatus(Deployment, { ...deployment, status });
  }
}

function flagsOf({ args = [] }: Container): Map<string, string> {
  return new Map(
    args.map((arg) => {
      const [name = "", ...value] = arg.replace(/^--?/, "").split("=");
      return [name, value.join("=")] as const;
    }),
  );
}
