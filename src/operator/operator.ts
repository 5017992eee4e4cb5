/**
 * The operator: which systems run, on which API, with which accounts. It owns the manager and the boot service's handler;
 * the caller owns the sockets.
 */

import {
  type Clock,
  Fault,
  type HttpHandler,
  isFault,
  type Log,
  NO_TALLIES,
  type Random,
  type Secrets,
  steadyClock,
} from "@slipway/base";
import {
  type Client,
  createClient,
  createManager,
  declaredClient,
  type KubeObject,
  type LeaderElection,
  type Manager,
  type Resource,
  type RuntimeMetrics,
  type Transport,
} from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import { anyOf } from "../bootstrap/boot-records.ts";
import { bootService } from "../bootstrap/boot-service.ts";
import { joinedOutputs, type MachineOutputs } from "../inventory/outputs/outputs.ts";
import type { Kind } from "../kinds/kind.ts";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { type AccountPorts, Accounts } from "../machines/accounts.ts";
import { createEquinixDriver } from "../machines/drivers/equinix/driver.ts";
import { createInventoryDriver } from "../machines/drivers/inventory/driver.ts";
import { scriptSecretAccess } from "../machines/drivers/inventory/script-secret.ts";
import { createLatitudeDriver } from "../machines/drivers/latitude/driver.ts";
import { createPlunderDriver } from "../machines/drivers/plunder/driver.ts";
import type { DriverFactory, HostInventory } from "../machines/provider.ts";
import { inventoryAccess } from "../systems/providers/inventory-access.ts";
import type { System, SystemPorts } from "../systems/system.ts";
import { kubeconfigOf } from "../workload/kubeconfig-secret.ts";
import type { OpenWorkload } from "../workload/ports.ts";
import { WorkloadClusters } from "../workload/workload-clusters.ts";
import { DEFAULT_SYSTEMS } from "./defaults.ts";
import { KINDS } from "./kinds.ts";
import type { OperatorMetrics } from "./metrics.ts";
import { givenSettings, type SystemSettings, settingsOf } from "./settings.ts";
import { SYSTEMS } from "./systems.ts";

export interface OperatorPorts {
  transport: Transport;
  clock: Clock;
  random: Random;
  log: Log;
  /** The way to providers' APIs, per CA certificate. */
  http: AccountPorts["http"];
  /** Reads rancherd's configuration of the node the operator runs on; undefined where there is none. */
  readNodeFile: () => Promise<string | undefined>;
  metrics?: RuntimeMetrics;
  /** What Slipway counts of its own work. */
  counts?: OperatorMetrics;
  secrets?: Secrets;
  /** The way to workload clusters. Default: HTTP, by their kubeconfigs. */
  openWorkload?: OpenWorkload;
}

export interface OperatorSettings {
  /** Where the operator's Secrets are. */
  namespace: string;
  /** Secret of the account that serves objects without a providerRef. */
  secret: string;
  /** What is set of each system, by its name. */
  of?: SystemSettings;
  /** Base URL at which machines reach the boot service. */
  bootUrl: string;
  /** Between looks at machines on their way. */
  pollMs: number;
  /** Off: one process, without other candidates. */
  leaderElection: LeaderElection | false;
  /** Which systems run. Default: those that run by default, and those whose settings are given. */
  systems?: readonly System[];
  /** Requests to the Kubernetes API. Unset: not limited. */
  limits?: { qps: number; burst: number };
}

export interface Operator {
  manager: Manager;
  client: Client;
  /** Machines and hosts of the systems that run, as they are known, and whether this process leads their system. */
  machines(): { object: KubeObject; isLed: boolean }[];
  /** Answers machines: mount it where `bootUrl` leads. */
  boot: HttpHandler;
  /** The systems that run. */
  systems: readonly System[];
  /** What the systems have of machines' consoles and boot logs. */
  outputs: MachineOutputs;
  /** Sees to what they need on the cluster beside their definitions: before the manager starts. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Resolves when what the systems started is closed: after the manager has stopped. */
  closed(): Promise<void>;
}

/** The operator, ready to start. Throws nothing by itself; missing inputs are reported on the objects that need them. */
export function createOperator(given: OperatorPorts, settings: OperatorSettings): Operator {
  // Deadlines count from moments that are written on the objects: setting the clock must not give machines up.
  const ports = { ...given, clock: steadyClock(given.clock) };
  const { transport, clock, random, log, secrets } = ports;
  const client = createClient(transport, {
    clock,
    random,
    log,
    fieldManager: "slipway",
    fieldValidation: "Ignore",
    ...(secrets && { outgoing: secrets }),
    ...(settings.limits && { limits: settings.limits }),
  });
  const manager = createManager({
    transport,
    clock,
    random,
    log,
    ...(ports.metrics && { metrics: ports.metrics }),
    ...(settings.limits && { limits: settings.limits }),
    leaderElection: settings.leaderElection,
    remedy: definitionRemedy,
    ...(secrets && { outgoing: secrets }),
  });
  const { systems = systemsToRun(DEFAULT_SYSTEMS, settings.of) } = settings;
  const { definitions } = manager;
  const shared = {
    ...systemPorts({ ...ports, client }, settings, systems, hostInventory(client, manager)),
    definitions,
  };
  const running = systems.map((system) => system.parts(shared, settingsOf(system, settings.of)));
  for (const parts of running)
    for (const controller of parts.controllers) manager.add(ports.counts?.controller(controller) ?? controller);
  ports.counts?.objects((kind) =>
    systems.some(({ kinds }) => kinds.flat().includes(kind)) ? listed(manager, kind) : [],
  );
  ports.counts?.measured(async () => (await Promise.all(running.map((parts) => parts.measure?.() ?? []))).flat());
  const boots = running.flatMap((parts) =>
    parts.boots === undefined
      ? []
      : [parts.boots(declaredClient(client, parts.access ?? [], "boot-service"), manager.cache)],
  );
  const boot = bootService({ records: anyOf(boots), clock, log });
  const prepare = async (signal: AbortSignal): Promise<void> => {
    for (const parts of running) await parts.prepare?.(client, signal);
  };
  const closed = async (): Promise<void> => {
    for (const parts of running) await parts.closed?.();
    await shared.workloads.close();
  };
  const outputs = joinedOutputs(running.flatMap((parts) => parts.outputs ?? []));
  const machines: Operator["machines"] = () =>
    systems.flatMap(({ name, shows }) => {
      const isLed = manager.leading(name);
      return (shows?.machines ?? []).flatMap((kind) => listed(manager, kind).map((object) => ({ object, isLed })));
    });
  return { manager, client, machines, boot, systems, outputs, prepare, closed };
}

/** The cluster's hosts as the controllers know them; where none of those watches them, the API is asked. */
function hostInventory(client: Client, { cache }: Manager): HostInventory {
  const own = declaredClient(client, [...inventoryAccess, scriptSecretAccess()], "inventory");
  return {
    client: own,
    async list() {
      try {
        return cache.list(BareMetalHost);
      } catch (error) {
        if (!isFault(error, "Undeclared")) throw error;
        return (await own.list(BareMetalHost)).items;
      }
    },
  };
}

/** What is known of a kind's objects: none while its system waits for it, so that one missing kind does not cost all metrics, and where nothing watches them. */
function listed({ cache }: Manager, kind: Kind): readonly KubeObject[] {
  try {
    return cache.list(kind);
  } catch (error) {
    if (isFault(error, "Unavailable", "Undeclared")) return [];
    throw error;
  }
}

/** What to do about a kind that the API does not serve. */
function definitionRemedy({ group, plural }: Resource): string | undefined {
  const own = KINDS.flat().some((kind) => kind.group === group && kind.plural === plural);
  return own ? `kubectl apply -f deploy/crds/${group}_${plural}.yaml; a restart is not needed` : undefined;
}

/** The systems of these names, in the order of the list. Throws a `Fault` for a name that there is none of. */
export function systemsOf(names: readonly string[] = DEFAULT_SYSTEMS): System[] {
  const strange = names.find((name) => !SYSTEMS.some((system) => system.name === name));
  if (strange === undefined) return SYSTEMS.filter(({ name }) => names.includes(name));
  throw new Fault("BadRequest", "operator", `there is no system ${strange}`, {
    remedy: `use some of ${SYSTEMS.map(({ name }) => name).join(", ")}`,
  });
}

/**
 * The systems of these names and those whose settings are given, in the order of the list. Throws a `Fault` for a name that there is none
 * of, and for a named system that can't run with its settings.
 */
export function systemsToRun(names: readonly string[], of: SystemSettings = {}): System[] {
  const named = systemsOf(names);
  return SYSTEMS.filter((system) => {
    if (system.canRun === undefined) return named.includes(system);
    if (system.canRun(settingsOf(system, of))) return true;
    if (!named.includes(system)) return false;
    const flag = givenSettings([system])
      .find((setting) => setting.flag !== undefined)
      ?.flag?.split(" ")[0];
    throw new Fault("BadRequest", "operator", `system ${system.name} has no settings`, {
      ...(flag !== undefined && { remedy: `name them with ${flag}` }),
    });
  });
}

/** What all systems share. */
export function systemPorts(
  {
    client,
    clock,
    log,
    http,
    secrets,
    counts,
    readNodeFile,
    openWorkload,
    random,
  }: Omit<OperatorPorts, "transport"> & { client: Client },
  { namespace, secret, of, bootUrl, pollMs, leaderElection }: OperatorSettings,
  systems: readonly System[],
  hosts?: HostInventory,
): SystemPorts {
  const onSecret = (value: string): void => secrets?.add(value);
  const measured = (make: DriverFactory): DriverFactory => counts?.driver(make) ?? make;
  const drivers = {
    equinix: measured(createEquinixDriver),
    latitude: measured(createLatitudeDriver),
    inventory: measured(createInventoryDriver),
    plunder: measured(createPlunderDriver),
  };
  // Who buys machines may run where the system that says where their providers are does not.
  const all = [...new Set([...SYSTEMS, ...systems])];
  const endpoints = Object.assign({}, ...all.map((system) => system.endpoints?.(settingsOf(system, of))));
  const accounts = new Accounts(drivers, { clock, log, http, endpoints, ...(hosts && { hosts }) });
  const account = { namespace, secret, onSecret };
  const hasReplicas = leaderElection !== false;
  const tallies = counts?.tallies ?? NO_TALLIES;
  const workloads = new WorkloadClusters({
    ...{ clock, random, log },
    kubeconfig: (cluster) => kubeconfigOf(client, cluster),
    open: openWorkload ?? ((connection) => createHttpTransport(connection)),
  });
  const shared = { clock, log, client, namespace, accounts, account, bootUrl, pollMs, hasReplicas };
  return { ...shared, readNodeFile, onSecret, tallies, workloads };
}
