import { asFault, type Clock, type Log, type Timer } from "@slipway/base";
import type { Host } from "../../netboot/hosts/host.ts";
import type { Hosts } from "../../netboot/hosts/hosts.ts";
import { UNDECLARED } from "../../netboot/hosts/trust.ts";
import type { Installers } from "../../netboot/http/installers.ts";
import type { UserOrder } from "../../netboot/protocol/order.ts";
import { typeOf } from "../files/boot-config.ts";
import type { DeploymentBook } from "./book.ts";
import { imageOrderOf, installOf } from "./offer.ts";
import { nextStep, restartId, type Step } from "./plan.ts";
import type { KeptDeployment } from "./state.ts";

export interface DeployerPorts {
  book: DeploymentBook;
  hosts: Pick<Hosts, "get" | "standing" | "declare" | "setBoot" | "onChange" | "result"> & {
    installs: Pick<Hosts["installs"], "end">;
  };
  installers: Pick<Installers, "give" | "isReady">;
  order(host: string, wanted: UserOrder, id: string): Promise<string>;
  hasCluster: boolean;
  /** Where machines reach netboot. */
  url: string;
  images: readonly string[];
  /** A public key that is let in beside the deployments' own. */
  ownKey?: string;
  /** A machine was installed anew: its host key is another one. */
  installed(deployment: KeptDeployment): Promise<void>;
  /** Has the system that a deployment installed restart its machine. Absent: nobody can. */
  restart?(host: Readonly<Host>, deployment: KeptDeployment, signal: AbortSignal): Promise<void>;
  clock: Clock;
  log: Log;
}

/** How far a deployment is, in words. */
export interface Progress {
  mac: string;
  state: "waiting" | "installed" | "failed" | "releasing";
  /** What is waited for, or how it ended. */
  message: string;
}

/** Steps that follow each other without news from the machine. */
const MOST_STEPS = 8;
/** After a step that failed. */
const RETRY_MS = 30_000;

/** Carries deployments out on the machines that netboot knows: looks at one whenever something is heard of it, and does the next step. */
export class Deployer {
  readonly #ports: DeployerPorts;
  readonly #stop: () => void;
  readonly #timers = new Map<string, Timer>();
  readonly #waits = new Map<string, string>();
  /** Machines whose step is under way; true: an event came meanwhile. */
  readonly #turns = new Map<string, boolean>();
  /** When systems were asked to restart, by deployment. */
  readonly #asked = new Map<string, number>();
  /** Deployments whose image this process has ordered to be written. */
  readonly #written = new Set<string>();
  readonly #closing = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(ports: DeployerPorts) {
    this.#ports = ports;
    this.#stop = ports.hosts.onChange((change) => {
      if (change.is === "changed") for (const mac of change.host.macs) this.look(mac);
    });
    for (const { deployment } of ports.book.deployments) this.look(deployment.mac);
  }

  /** Looks at the deployment of a machine, if it has one. */
  look(mac: string): void {
    const kept = this.#ports.book.find(mac);
    if (this.#isClosed || kept === undefined) return;
    if (kept.ended !== undefined && kept.claim?.release === undefined) return;
    if (this.#turns.has(mac)) return void this.#turns.set(mac, true);
    this.#turns.set(mac, false);
    this.#running = Promise.allSettled([this.#running, this.#turn(mac)]);
  }

  /** A deployment that is no longer wanted: nothing of it is served any more, and its machine boots the agent. */
  withdraw({ deployment: { mac }, id }: KeptDeployment): void {
    this.#timers.get(mac)?.cancel();
    this.#timers.delete(mac);
    this.#waits.delete(mac);
    const { hosts } = this.#ports;
    const host = hosts.get(mac);
    if (host === undefined) return;
    const result = { ok: false, message: "its deployment was deleted" };
    hosts.installs.end(host.name, id, result);
    for (const order of [id, restartId(id)]) hosts.result(host.name, order, result);
    hosts.setBoot(host.name, "agent");
  }

  progress(): Progress[] {
    return this.#ports.book.deployments.map((kept) => this.progressOf(kept));
  }

  progressOf({ deployment: { mac }, ended, claim }: KeptDeployment): Progress {
    const isReleased = claim?.release !== undefined;
    if (ended !== undefined && !isReleased)
      return { mac, state: ended.ok ? "installed" : "failed", message: ended.message };
    return { mac, state: isReleased ? "releasing" : "waiting", message: this.#waits.get(mac) ?? "to be looked at" };
  }

  /** Looks at nothing any more; resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort();
    this.#stop();
    for (const timer of this.#timers.values()) timer.cancel();
    await this.#running;
  }

  async #turn(mac: string): Promise<void> {
    try {
      for (let steps = 0; steps < MOST_STEPS && !this.#isClosed; steps++) {
        this.#turns.set(mac, false);
        const isOver = await this.#step(mac);
        if (isOver && !this.#turns.get(mac)) return;
      }
      this.#again(mac, RETRY_MS);
    } finally {
      this.#turns.delete(mac);
    }
  }

  /** True: there is nothing more to do until something is heard. */
  async #step(mac: string): Promise<boolean> {
    const { book, clock, log } = this.#ports;
    const kept = book.find(mac);
    if (kept === undefined) return true;
    try {
      const step = this.#next(kept);
      if (step === undefined) return true;
      if (step.do !== "wait") return await this.#carryOut(step, kept);
      this.#waits.set(mac, step.for);
      if (step.again !== undefined) this.#again(mac, step.again);
      return true;
    } catch (error) {
      const fault = asFault(error, mac);
      this.#waits.set(mac, fault.advice);
      log.warn({ mac, code: fault.code }, "a deployment can't go on");
      // What is wrong stays so until somebody changes it; all else may pass.
      if (kept.claim?.release === undefined && (fault.code === "Invalid" || fault.code === "Unsupported"))
        await book.ended(kept.id, { ok: false, message: fault.advice, at: clock.now() });
      else this.#again(mac, RETRY_MS);
      return true;
    }
  }

  #next(kept: KeptDeployment): Step | undefined {
    const { book, hosts, installers, hasCluster, clock } = this.#ports;
    const { deployment } = kept;
    const boot = book.bootConfig(deployment.bootConfigName);
    if (boot === undefined) return { do: "wait", for: `a boot configuration ${deployment.bootConfigName}` };
    const host = hosts.get(deployment.mac);
    const standing = host && hosts.standing(host.name);
    const isReady = typeOf(boot) === "booty" ? this.#written.has(kept.id) : installers.isReady(deployment.mac);
    const askedAt = this.#ports.restart === undefined ? "never" : this.#asked.get(kept.id);
    const known = { kept, type: typeOf(boot), host, standing, hasCluster, isReady, now: clock.now() };
    return nextStep({ ...known, ...(askedAt !== undefined && { askedAt }) });
  }

  async #carryOut(step: Exclude<Step, { do: "wait" }>, kept: KeptDeployment): Promise<boolean> {
    const { book, hosts, installers, order, hasCluster, clock } = this.#ports;
    const { deployment, id } = kept;
    const host = hosts.get(deployment.mac)!;
    switch (step.do) {
      case "declare":
        hosts.declare(host.name, { is: "declared" });
        return false;
      case "install":
        installers.give(host.name, id, installOf(kept, host, this.#around(kept)));
        return false;
      case "write":
        await order(host.name, imageOrderOf(kept, book), id);
        this.#written.add(id);
        return false;
      case "restart":
        if (step.from === "disk") hosts.setBoot(host.name, "disk");
        await order(host.name, { order: "reboot" }, restartId(id));
        return false;
      case "end":
        return this.#ended(step, kept, host, clock.now());
      case "withdraw":
        this.withdraw(kept);
        return false;
      case "wipe":
        await order(host.name, { order: "wipe", how: "metadata", disks: "all" }, step.id);
        return false;
      case "askRestart":
        this.#asked.set(id, clock.now());
        await this.#ports.restart?.(host, kept, this.#closing.signal);
        return false;
      case "wipeFailed":
        await book.wipeFailed(kept.claim!.id, { at: clock.now(), message: step.message });
        return false;
      case "wiped":
        await book.wiped(kept.claim!.id, step.proof);
        this.#waits.delete(deployment.mac);
        this.#asked.delete(id);
        // That a machine of this claim was to be installed is no word for the next one.
        if (!hasCluster) hosts.declare(host.name, UNDECLARED);
        return true;
    }
  }

  async #ended(
    { ok, message, endInstall }: Extract<Step, { do: "end" }>,
    kept: KeptDeployment,
    host: Readonly<Host>,
    at: number,
  ): Promise<boolean> {
    const { book, hosts, installed } = this.#ports;
    if (endInstall) hosts.installs.end(host.name, kept.id, { ok, message });
    await book.ended(kept.id, { ok, message, at });
    this.#waits.delete(kept.deployment.mac);
    if (ok) await installed(kept);
    return true;
  }

  #around({ deployment: { bootConfigName } }: KeptDeployment) {
    const { book, url, images, ownKey } = this.#ports;
    const { globalConfig } = book;
    return {
      globalConfig,
      boot: book.bootConfig(bootConfigName)!,
      url,
      images,
      ...(ownKey !== undefined && { ownKey }),
    };
  }

  #again(mac: string, ms: number): void {
    this.#timers.get(mac)?.cancel();
    this.#timers.set(
      mac,
      this.#ports.clock.after(ms, () => this.look(mac)),
    );
  }
}
