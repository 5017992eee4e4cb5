/**
 * A system is a value: what it is called, which kinds it brings, what may be set, and what runs. The operator, its rights, what is
 * installed, the command's flags and help, metrics and the demo are derived from the list of them (`operator/systems.ts`), so a new system
 * is a folder beside this file and a line there.
 */
import type { Clock, Log, Tallies, Tally } from "@slipway/base";
import type { Access, Cache, Client, Controller, DefinitionWatch, KubeObject } from "@slipway/kube";
import type { z } from "zod";
import type { BootRecords } from "../bootstrap/boot-service.ts";
import type { MachineOutputs } from "../inventory/outputs/outputs.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Accounts } from "../machines/accounts.ts";
import type { Role } from "../views/row.ts";
import type { WorkloadClusters } from "../workload/workload-clusters.ts";
import type { Act } from "./act.ts";
import type { Counterpart, StandInHardware } from "./counterpart.ts";
import type { Planning } from "./planning.ts";
import type { OwnAccount } from "./providers/accounts.ts";

/** What every system is given when it is put together. */
export interface SystemPorts {
  clock: Clock;
  log: Log;
  /** For what is done outside of controllers and boots. Its rights are the system's `access`. */
  client: Client;
  /** Definitions of kinds that only objects name. Unset: they are asked for. */
  definitions?: DefinitionWatch;
  /** The operator's own namespace. */
  namespace: string;
  /** Machine providers' accounts, shared by all who buy machines. */
  accounts: Accounts;
  /** Where the account is described that serves objects which name no MachineProvider. */
  account: OwnAccount;
  /** Base URL at which machines reach the boot service. */
  bootUrl: string;
  /** Between looks at machines on their way. */
  pollMs: number;
  /** Whether other replicas may take over: what this one knows must be found by the next. */
  hasReplicas: boolean;
  /** Reads rancherd's configuration of the node that the operator runs on; undefined where there is none. */
  readNodeFile: () => Promise<string | undefined>;
  /** Has the log and all that leaves the process hide a value. */
  onSecret: (value: string) => void;
  /** Counts in the systems' `tallies`. */
  tallies: Tallies;
  /** Clients of workload clusters, one each, shared by all who need one. Who asks for a cluster declares to read Secrets (`KUBECONFIG_ACCESS`). */
  workloads: WorkloadClusters;
}

/** What runs of a system. */
export interface SystemParts {
  controllers: readonly Controller[];
  /** What is done outside of the controllers, and needs rights of its own. */
  access?: readonly Access[];
  /** Sees to what must be there before it runs, once its definitions are installed. */
  prepare?(client: Client, signal: AbortSignal): Promise<void>;
  /** The values of the system's `measures` as they are now. Asked once for a scrape. */
  measure?(): Promise<readonly Measured[]>;
  /** What it has of machines' consoles and boot logs. */
  outputs?: MachineOutputs;
  /** Resolves when what its controllers started is closed: after the manager has stopped. */
  closed?(): Promise<void>;
  /** The boots that the boot service serves. `client` may do what `access` says; `cache` has what the controllers watch. */
  boots?(client: Client, cache: Cache): BootRecords;
}

/** Objects of a kind, counted at each scrape by a word of each: a gauge with one label. */
export interface ObjectCount {
  /** Of the metric: `slipway_instances`. */
  name: string;
  help: string;
  label: string;
  kind: Kind;
  valueOf(object: KubeObject): string;
}

/** A figure of something that a system runs, read at each scrape: a gauge. */
export interface Measure {
  /** Of the metric: `slipway_tenant_memory_bytes`. */
  name: string;
  help: string;
  labels: readonly string[];
}

/** One value of a `Measure`, with a word for each of its labels. */
export interface Measured {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** The reasons of events by which machines are counted, on objects of one kind. */
export interface MachineEvents {
  kind: Kind;
  bought: string;
  released: string;
  replaced: string;
}

/** How a setting is given beside code, as meta of its schema. Its description and its default are the schema's. */
export interface SettingMeta {
  /** The environment variable. */
  env?: string;
  /** The option of `slipway operator`: `--netboot-dir <folder>`. */
  flag?: string;
  /** Its value is a secret: no chart value, no file holds it. */
  isSecret?: boolean;
  /** It is a folder for what must outlive the process. `slipway up` makes it of this name in its own. */
  stateFolder?: string;
}

export interface System<Settings = unknown> {
  /** The unit of leader election and of `--systems`. */
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Every kind that it brings, each with all its versions. */
  readonly kinds: readonly (readonly Kind[])[];
  /** What its kinds are to a user. Listings, the overview and their like go by it. */
  readonly shows?: Readonly<Partial<Record<Role, readonly Kind[]>>>;
  /** Whether its kinds may be foreign: an existing definition of another owner stays as it is. Default: false. */
  readonly kindsMayBeForeign?: boolean;
  /** What may be set: a member's meta says how (`SettingMeta`). The command's options and help, the chart's values and docs/settings.md follow. */
  readonly settings: z.ZodObject;
  /** Whether these are settings to run with. With it, the system runs only where they are. Default: it runs with any. */
  canRun?(settings: Settings): boolean;
  /** With what it runs on a laptop (`slipway up`, the demo) where nothing else is said. */
  readonly onLaptop?: Readonly<Partial<Settings>>;
  /** Reads what its settings name, such as a file, before it is put together. Rejects with a `Fault`. */
  load?(settings: Settings, ports: Pick<SystemPorts, "log">): Promise<Partial<Settings>>;
  /** Where machine providers' APIs are that are not at their public addresses, by driver. */
  endpoints?(settings: Settings): Readonly<Record<string, string | undefined>>;
  /** Namespace and Secret where users of the original have its account. The operator's own defaults are the first system's. */
  readonly home?: { readonly namespace: string; readonly secret: string };
  readonly counts?: readonly ObjectCount[];
  readonly measures?: readonly Measure[];
  /** What it counts of what happens. */
  readonly tallies?: readonly Tally[];
  readonly machineEvents?: MachineEvents;
  /** What applying objects of its kinds brings about: `slipway plan` shows it. */
  readonly plans?: readonly Planning[];
  /** The folder with its manifests, which the demo applies: `examples/harvester`. */
  readonly examples?: string;
  /** Loads what the demo plays of it beside the examples. */
  act?(): Promise<{ act: Act }>;
  /** Loads what stands in for its surroundings. */
  simulated?(): Promise<{ counterpart: Counterpart }>;
  /** Loads what stands in for machines of a user's own, which it serves. */
  ownHardware?(): Promise<{ hardware: StandInHardware }>;
  /** Puts it together; nothing runs yet. */
  parts(ports: SystemPorts, settings: Settings): SystemParts;
}

/** Types a system against its own settings, then forgets the type, so that all stand in one list. */
export function system<Schema extends z.ZodObject>(
  of: Omit<System<z.output<Schema>>, "settings"> & { settings: Schema },
): System {
  return of as unknown as System;
}
