import { isDeepStrictEqual } from "node:util";
import { Fault, isMac, parseMac, type Random, uuid } from "@slipway/base";
import type { WantedMachine } from "../../machines/drivers/plunder/wire.ts";
import { hashPassword, sha512Crypt } from "../../pki/password.ts";
import type { BootConfig } from "../files/boot-config.ts";
import type { Deployment, Deployments, HostConfig } from "../files/deployment.ts";
import { isSaid } from "../files/texts.ts";
import { isClaimed, refuseClaimed, withClaim, withFailedWipe, withRelease, withWiped } from "./claims.ts";
import { type KeptDeployment, State, type Wiped } from "./state.ts";

const EMPTY: State = { bootConfigs: [], globalConfig: {}, deployments: [] };

/** Where the book is kept. */
export interface BookStore {
  /** Undefined: nothing is kept yet. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/**
 * What plunder's server keeps in memory, in a file: boot configurations, what all machines have in common, and the deployments. Every change is on the
 * disk before it is answered. MAC addresses are compared without regard to case and separators; passwords are kept as hashes.
 */
export class DeploymentBook {
  readonly #store: BookStore;
  readonly #random: Random;
  #state: State;
  /** One write after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(store: BookStore, random: Random, state: State) {
    this.#store = store;
    this.#random = random;
    this.#state = state;
  }

  /** Rejects with a `Fault` (`Invalid`) when what is kept is something else. */
  static async open(store: BookStore, random: Random): Promise<DeploymentBook> {
    const text = await store.read();
    if (text === undefined) return new DeploymentBook(store, random, EMPTY);
    try {
      return new DeploymentBook(store, random, State.parse(JSON.parse(text)));
    } catch (cause) {
      throw new Fault("Invalid", "plunder's deployments", "the file that keeps them holds something else", {
        remedy: "remove it; the deployments have to be given anew",
        cause,
      });
    }
  }

  get bootConfigs(): readonly BootConfig[] {
    return this.#state.bootConfigs;
  }

  get globalConfig(): HostConfig {
    return this.#state.globalConfig;
  }

  get deployments(): readonly KeptDeployment[] {
    return this.#state.deployments;
  }

  bootConfig(name: string): BootConfig | undefined {
    return this.#state.bootConfigs.find(({ configName }) => configName === name);
  }

  /** By MAC in any notation, with dashes, too. Throws a `Fault`: `Invalid`, `NotFound`. */
  byMac(mac: string): KeptDeployment {
    const found = this.find(macOf(mac));
    if (found === undefined) throw new Fault("NotFound", mac.slice(0, 32), "there is no deployment for it");
    return found;
  }

  find(mac: string): KeptDeployment | undefined {
    return this.#state.deployments.find(({ deployment }) => deployment.mac === mac);
  }

  /** By the address that it gives, or by MAC. Throws as `byMac`. */
  byAddress(address: string): KeptDeployment {
    const found = this.#state.deployments.find(
      ({ deployment: { config } }) => isSaid(config.address) && config.address === address,
    );
    if (found === undefined) throw new Fault("NotFound", address.slice(0, 64), "no deployment gives this address");
    return found;
  }

  /** Throws a `Fault`: `AlreadyExists`. */
  addBootConfig(config: BootConfig): Promise<void> {
    return this.#change((state) => {
      if (this.bootConfig(config.configName) !== undefined)
        throw new Fault("AlreadyExists", config.configName, "there is a boot configuration of this name");
      return { ...state, bootConfigs: [...state.bootConfigs, config] };
    });
  }

  /** Throws a `Fault`: `NotFound`, `Conflict` while a deployment names it. */
  removeBootConfig(name: string): Promise<void> {
    return this.#change((state) => {
      if (this.bootConfig(name) === undefined)
        throw new Fault("NotFound", name.slice(0, 64), "there is no boot configuration of this name");
      const user = state.deployments.find(({ deployment }) => deployment.bootConfigName === name);
      if (user !== undefined)
        throw new Fault("Conflict", name, `the deployment of ${user.deployment.mac} names it`, {
          remedy: "delete that first",
        });
      return { ...state, bootConfigs: state.bootConfigs.filter(({ configName }) => configName !== name) };
    });
  }

  /** All of them; those that deployments name must be among them. Throws a `Fault`: `Invalid` for a name twice, `Conflict`. */
  setBootConfigs(configs: readonly BootConfig[]): Promise<void> {
    return this.#change((state) => {
      const names = new Set(configs.map(({ configName }) => configName));
      if (names.size < configs.length) throw new Fault("Invalid", "bootConfigs", "two have the same configName");
      const missing = state.deployments.find(
        ({ deployment: { bootConfigName } }) => !names.has(bootConfigName) && this.bootConfig(bootConfigName),
      );
      if (missing !== undefined)
        throw new Fault(
          "Conflict",
          missing.deployment.bootConfigName,
          `the deployment of ${missing.deployment.mac} names it`,
        );
      return { ...state, bootConfigs: [...configs] };
    });
  }

  /** Throws a `Fault` (`AlreadyExists`) for a machine that has one. */
  add(deployment: Deployment): Promise<void> {
    return this.#change((state) => {
      if (this.find(deployment.mac) !== undefined)
        throw new Fault("AlreadyExists", deployment.mac, "there is a deployment for it", {
          remedy: "change that one by PATCH",
        });
      return { ...state, deployments: [...state.deployments, this.#kept(deployment)] };
    });
  }

  /** Another in the place of the machine's: what is not begun is done by the new one; what has ended stays so. Throws a `Fault`: `NotFound`, `Conflict` for one that is claimed. */
  replace(deployment: Deployment): Promise<void> {
    return this.#change((state) => {
      const before = this.byMac(deployment.mac);
      refuseClaimed(before);
      const next = this.#kept(deployment, before);
      return { ...state, deployments: state.deployments.map((each) => (each === before ? next : each)) };
    });
  }

  /** Throws a `Fault`: `NotFound`, `Conflict` for one that is claimed. */
  async remove(mac: string): Promise<KeptDeployment> {
    let removed = this.byMac(mac);
    await this.#change((state) => {
      removed = this.byMac(mac);
      refuseClaimed(removed);
      return { ...state, deployments: state.deployments.filter((each) => each !== removed) };
    });
    return removed;
  }

  /** The whole, in the place of what is there, but for what is claimed. Throws a `Fault`: `Invalid` for a machine that is named twice, `Conflict` for another deployment of one that is claimed. */
  replaceAll({ globalConfig, deployments }: Deployments): Promise<void> {
    return this.#change((state) => {
      const macs = new Set(deployments.map(({ mac }) => mac));
      if (macs.size < deployments.length) throw new Fault("Invalid", "deployments", "two are for the same machine");
      const made = new Map<string, string>();
      const claimed = state.deployments.filter(isClaimed);
      const own = new Map(claimed.map((each) => [each.deployment.mac, each]));
      const kept: KeptDeployment[] = [...claimed];
      for (const deployment of deployments) {
        const held = own.get(deployment.mac);
        if (held === undefined) kept.push(this.#kept(deployment, this.find(deployment.mac), made));
        else if (!isDeepStrictEqual(deployment, held.deployment)) refuseClaimed(held);
      }
      const before = state.globalConfig;
      return {
        ...state,
        globalConfig: hashed(globalConfig, { random: this.#random, before, made }),
        deployments: kept,
      };
    });
  }

  setGlobalConfig(globalConfig: HostConfig): Promise<void> {
    return this.#change((state) => {
      const hashing = { random: this.#random, before: state.globalConfig, made: new Map() };
      return { ...state, globalConfig: hashed(globalConfig, hashing) };
    });
  }

  /** Notes what became of it, once. */
  ended(id: string, result: { ok: boolean; message: string; at: number }): Promise<void> {
    return this.#change((state) => ({
      ...state,
      deployments: state.deployments.map((each) =>
        each.id === id && each.ended === undefined ? { ...each, ended: result } : each,
      ),
    }));
  }

  /** What was given back and is wiped. */
  wipedOf(claim: string): Wiped | undefined {
    return this.#state.wiped?.find((each) => each.claim === claim);
  }

  /** A deployment for a claim, once however often it is asked for. `macs`: of the machine. Throws a `Fault` (`AlreadyExists`). */
  async claim(wanted: WantedMachine, { macs, now }: { macs: readonly string[]; now: number }): Promise<void> {
    const kept = uuid(this.#random);
    await this.#change((state) => withClaim(state, wanted, { macs, kept, now }));
  }

  /** Has the machine of a claim wiped. Throws a `Fault` (`NotFound`). */
  release(claim: string): Promise<void> {
    return this.#change((state) => withRelease(state, claim));
  }

  wipeFailed(claim: string, failed: { at: number; message: string }): Promise<void> {
    return this.#change((state) => withFailedWipe(state, claim, failed));
  }

  /** The machine of a claim is nobody's again. */
  wiped(claim: string, proof: string): Promise<void> {
    return this.#change((state) => withWiped(state, claim, proof));
  }

  /** An installation that was begun by what is no longer wanted is not gone on with: a changed one has an id of its own. */
  #kept(given: Deployment, before?: KeptDeployment, made = new Map<string, string>()): KeptDeployment {
    const hashing = { random: this.#random, before: before?.deployment.config, made };
    const deployment = { ...given, config: hashed(given.config, hashing) };
    if (before?.ended !== undefined) return { ...before, deployment };
    const isSame = before !== undefined && JSON.stringify(before.deployment) === JSON.stringify(deployment);
    return isSame ? before : { deployment, id: uuid(this.#random) };
  }

  #change(make: (state: State) => State): Promise<void> {
    const changed = this.#turn.then(async () => {
      const next = make(this.#state);
      if (next === this.#state) return;
      await this.#store.write(JSON.stringify(next));
      this.#state = next;
    });
    this.#turn = changed.catch(() => {});
    return changed;
  }
}

/** A MAC in any notation. Throws a `Fault` (`Invalid`). */
export function macOf(text: string): string {
  if (isMac(text)) return parseMac(text);
  throw new Fault("Invalid", text.slice(0, 32), "is no MAC address");
}

/**
 * The settings with a hash in the place of a clear password: the one of before, where it is the same. `made`: those of this change, since each costs
 * milliseconds and many machines share one.
 */
function hashed(config: HostConfig, { random, before, made }: Hashing): HostConfig {
  const { password } = config;
  if (!isSaid(password) || /^\$\w{1,3}\$/.test(password)) return config;
  const known = made.get(password);
  if (known !== undefined) return { ...config, password: known };
  const isSame = before?.password !== undefined && isHashOf(before.password, password);
  const hash = isSame ? before.password! : hashPassword(password, Buffer.from(random.bytes(12)).toString("base64"));
  made.set(password, hash);
  return { ...config, password: hash };
}

interface Hashing {
  random: Random;
  before?: HostConfig | undefined;
  made: Map<string, string>;
}

function isHashOf(hash: string, password: string): boolean {
  const [, salt] = /^\$6\$([^$]{1,16})\$/.exec(hash) ?? [];
  return salt !== undefined && sha512Crypt(password, salt) === hash;
}
