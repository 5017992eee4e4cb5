/**
 * The operator: which systems run, on which API, with which accounts. It owns the manager and the boot service's handler;
 * whoever starts it owns the sockets.
 */

import type { Clock } from "../base/clock.ts";
import type { HttpHandler } from "../base/http.ts";
import type { Log, Secrets } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { bootService } from "../bootstrap/boot-service.ts";
import { Instance } from "../kinds/harvester/instance.ts";
import type { Client } from "../kube/client.ts";
import type { Controller } from "../kube/controller.ts";
import { declaredClient } from "../kube/declared-client.ts";
import { createManager, type LeaderElection, type Manager } from "../kube/manager.ts";
import type { RuntimeMetrics } from "../kube/metrics.ts";
import { createClient } from "../kube/rest-client.ts";
import type { Transport } from "../kube/transport.ts";
import { type AccountPorts, Accounts } from "../machines/accounts.ts";
import { createEquinixDriver } from "../machines/drivers/equinix/driver.ts";
import { createLatitudeDriver } from "../machines/drivers/latitude/driver.ts";
import type { DriverFactory } from "../machines/provider.ts";
import { bootSignalAccess, harvesterBootRecords } from "../systems/harvester/boot-signals.ts";
import { Boots } from "../systems/harvester/boots.ts";
import { instanceController } from "../systems/harvester/instance-controller.ts";
import { SYSTEM } from "../systems/harvester/names.ts";
import { poolController } from "../systems/harvester/pool-controller.ts";
import { providerController } from "../systems/providers/provider-controller.ts";
import type { OperatorMetrics } from "./metrics.ts";

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
}

export interface OperatorSettings {
  /** Where the operator's Secrets are. */
  namespace: string;
  /** Secret of the account that serves objects without a providerRef. */
  secret: string;
  /** Other endpoints than the providers' public ones, by driver: `equinix`, `latitude`. */
  endpoints?: Readonly<Record<string, string>>;
  /** The join token, when the environment gives it. */
  joinToken?: string;
  /** Base URL at which machines reach the boot service. */
  bootUrl: string;
  /** Between looks at machines on their way. */
  pollMs: number;
  /** Off: one process, nobody to elect against. */
  leaderElection: LeaderElection | false;
  /** Which systems run. Unset: all. */
  systems?: readonly string[];
  /** Requests to the Kubernetes API. Unset: not limited. */
  limits?: { qps: number; burst: number };
}

export interface Operator {
  manager: Manager;
  client: Client;
  /** Answers machines: mount it where `bootUrl` leads. */
  boot: HttpHandler;
}

export const SYSTEMS = [SYSTEM] as const;

/** The operator, ready to start. Throws nothing by itself; what lacks is told on the objects that need it. */
export function createOperator(ports: OperatorPorts, settings: OperatorSettings): Operator {
  const { transport, clock, random, log, secrets } = ports;
  const client = createClient(transport, {
    clock,
    random,
    log,
    fieldManager: "slipway",
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
    ...(settings.systems && { systems: settings.systems }),
    ...(secrets && { redact: (text: string) => secrets.redact(text) }),
  });
  for (const controller of controllers(ports, settings))
    manager.add(ports.counts?.controller(controller) ?? controller);
  ports.counts?.instances(() => (runs(SYSTEM, settings) ? manager.cache.list(Instance) : []));
  const bootClient = declaredClient(client, bootSignalAccess(settings.namespace), "boot-service");
  const boot = bootService({ records: harvesterBootRecords(bootClient, settings.namespace), clock, log });
  return { manager, client, boot };
}

function runs(system: string, { systems }: OperatorSettings): boolean {
  return systems === undefined || systems.includes(system);
}

/** Every controller, with what it shares with the others. */
export function controllers(
  ports: Omit<OperatorPorts, "transport" | "random">,
  settings: OperatorSettings,
): Controller[] {
  const { clock, log, http, secrets } = ports;
  const onSecret = (value: string): void => secrets?.add(value);
  const measured = (make: DriverFactory): DriverFactory => ports.counts?.driver(make) ?? make;
  const drivers = { equinix: measured(createEquinixDriver), latitude: measured(createLatitudeDriver) };
  const accounts = new Accounts(drivers, {
    clock,
    log,
    http,
    ...(settings.endpoints && { endpoints: settings.endpoints }),
  });
  const addon = {
    namespace: settings.namespace,
    secret: settings.secret,
    onSecret,
  };
  const joinToken = {
    environment: settings.joinToken,
    secret: { namespace: settings.namespace, name: settings.secret },
    readNodeFile: ports.readNodeFile,
  };
  const boots = new Boots({ namespace: settings.namespace, url: settings.bootUrl, joinToken, onSecret });
  const harvester = { accounts, addon, joinToken, boots, pollMs: settings.pollMs };
  return [poolController(harvester), instanceController(harvester), providerController(accounts, addon, SYSTEM)];
}
