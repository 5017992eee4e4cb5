import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ADMIN, type ApiServer, createApiServer, type ListenOptions } from "@slipway/apiserver";
import { storageDrivers } from "@slipway/apiserver/extras";
import type { Clock, Log, Random } from "@slipway/base";
import type { Observed, Plane } from "../plane.ts";
import { PortBook } from "../ports.ts";
import type { Runtime } from "../runtime.ts";
import { startJoining } from "./joining.ts";

export interface EmbeddedRuntimePorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** Where planes listen. */
  host: string;
  /** A folder for the planes' data. Unset: it lives as long as the process. */
  dir?: string;
}

type Face = Awaited<ReturnType<ApiServer["listen"]>>;

/** One embedded API and its port. */
interface Running {
  api: ApiServer;
  /** Signs what machines need to join. */
  joining: { close(): Promise<void> };
  /** The version that is reported; a plane's may change while it runs. */
  version: { reported: string };
  face: Face | undefined;
  /** With what `face` listens: another certificate, address or port needs another face. */
  listens: string;
}

/**
 * Tenants' control planes in this very process: one embedded API each. They have the tenant's certificates, tokens and kubeconfigs, and
 * no controllers or scheduler of workloads, but what machines need to join (`joining.ts`). A plane that sleeps has no port; its objects stay.
 */
export class EmbeddedRuntime implements Runtime {
  readonly name = "embedded";
  readonly #ports: EmbeddedRuntimePorts;
  readonly #book = new PortBook();
  readonly #running = new Map<string, Running>();

  constructor(ports: EmbeddedRuntimePorts) {
    this.#ports = ports;
  }

  async place(id: string, wanted: { host?: string; port: number; exact: boolean }) {
    return await this.#book.take(id, { ...wanted, host: wanted.host ?? this.#ports.host });
  }

  /** Any release can be reported; `.0` of a minor is one that there is. */
  async releaseOf(minor: string): Promise<string> {
    return `${minor}.0`;
  }

  async ensure(plane: Plane): Promise<Observed> {
    const running = this.#running.get(plane.id) ?? (await this.#start(plane));
    running.version.reported = plane.version;
    if (plane.replicas === 0) {
      await this.#sleep(running);
      return { readyReplicas: 0, components: [] };
    }
    const given = Object.entries(plane.extraArgs).filter(([, flags]) => flags.length > 0);
    const ignored = given.map(([of]) => `spec.controlPlane.deployment.extraArgs.${of}: an embedded API takes no flags`);
    await this.#serve(running, plane);
    const api = { component: "kube-apiserver", ready: true, version: plane.version, message: "embedded in Slipway" };
    return { readyReplicas: plane.replicas, version: plane.version, components: [api], ignored };
  }

  transport(id: string) {
    return this.#running.get(id)?.api.transport(ADMIN);
  }

  async remove(id: string): Promise<void> {
    const running = this.#running.get(id);
    this.#running.delete(id);
    this.#book.release(id);
    await running?.joining.close();
    await running?.api.close();
    const { dir } = this.#ports;
    if (dir !== undefined) await rm(join(dir, id), { recursive: true, force: true });
  }

  onChange(): () => void {
    // A plane is as wanted when `ensure` resolves, and stays so.
    return () => undefined;
  }

  async close(): Promise<void> {
    const all = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(all.map(({ joining }) => joining.close()));
    await Promise.all(all.map(({ api }) => api.close()));
  }

  async #start({ id, version: reported, pki, clusterDomain, serviceCidrs }: Plane): Promise<Running> {
    const { clock, random, log, dir } = this.#ports;
    const version = { reported };
    if (dir !== undefined) await mkdir(join(dir, id), { recursive: true, mode: 0o700 });
    const api = await createApiServer({
      ...{ clock, random, log },
      // Upstream's Cluster API looks for attached volumes before it takes a machine away.
      extras: [storageDrivers],
      version: () => version.reported,
      authority: pki.ca.cert,
      ...(serviceCidrs.length > 0 && { serviceCidrs }),
      accountTokens: { key: pki.accounts.privateKey, issuer: `https://kubernetes.default.svc.${clusterDomain}` },
      ...(dir !== undefined && { storage: { file: join(dir, id, "objects.db") } }),
    });
    const joining = startJoining({ clock, random, log, transport: api.transport(ADMIN), ca: pki.ca });
    const running: Running = { api, joining, version, face: undefined, listens: "" };
    this.#running.set(id, running);
    return running;
  }

  async #sleep(running: Running): Promise<void> {
    const { face } = running;
    running.face = undefined;
    running.listens = "";
    await face?.close();
  }

  async #serve(running: Running, { id, host, port, pki }: Plane): Promise<void> {
    const at: ListenOptions = {
      ...{ host, port },
      tls: { cert: pki.apiServer.cert, key: pki.apiServer.key, clientCa: pki.ca.cert },
    };
    const listens = JSON.stringify(at);
    if (running.listens === listens) return;
    await this.#sleep(running);
    try {
      running.face = await running.api.listen(at);
    } catch (error) {
      // Somebody took the port since it was found free: another one is found the next time.
      this.#book.release(id);
      throw error;
    }
    running.listens = listens;
  }
}
