import { systemClock as clock, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { type Connection, createHttpTransport } from "@slipway/kube/http";
import { type Command, Option } from "commander";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";
import { HttpClients } from "../machines/http-clients.ts";
import { assetsFolder } from "../netboot/agent/assets-folder.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET, DEFAULT_SYSTEMS } from "../operator/defaults.ts";
import { systemsOf } from "../operator/operator.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { accountOf } from "../systems/providers/accounts.ts";
import { accountCheck } from "./doctor/account.ts";
import { clusterChecks } from "./doctor/cluster.ts";
import { dhcpServersOn } from "./doctor/dhcp-servers.ts";
import { type Check, findingLines, findingsOf } from "./doctor/finding.ts";
import { networkChecks } from "./doctor/network.ts";
import { addClusterOptions } from "./listing/options.ts";
import { documentOf } from "./listing/print.ts";
import { addNetbootOptions, type NetbootOptions, settingsOf } from "./netboot-options.ts";
import { type ClusterOptions, connectionTo } from "./on-cluster.ts";
import { operatorPorts } from "./operator-ports.ts";
import { namesOf } from "./option-values.ts";
import { secrets } from "./outgoing.ts";
import { reach } from "./reach.ts";
import type { Verb } from "./verb.ts";

interface Shown {
  output?: "json" | "yaml";
}

interface ClusterDoctor extends ClusterOptions, Shown {
  operatorNamespace: string;
  systems: string[];
}

const EXAMPLES = `
Examples:
  slipway doctor cluster
  slipway doctor account
  slipway doctor account latitude-fra
  slipway doctor network --config examples/rack/netboot.yaml`;

/** `slipway doctor`: looks, changes nothing, and ends with 1 where something would not work. */
export const verb: Verb = (program) => {
  const doctor = program
    .command("doctor")
    .description(
      "Look whether a cluster, a provider's account or a network is ready; each finding has its repair. Changes nothing.",
    )
    .addHelpText("after", `\nEnds with 1 where there is a problem.\n${EXAMPLES}`);
  const known = SYSTEMS.map(({ name }) => name);
  addClusterOptions(
    shown(
      doctor
        .command("cluster")
        .description("Version, clock, certificates, rights, definitions, boot address and leaders."),
    ),
  )
    .option("--operator-namespace <namespace>", "where the operator is, or is to be", DEFAULT_NAMESPACE)
    .option("--systems <names>", `systems that are to run, of: ${known.join(", ")}`, namesOf(known), [
      ...DEFAULT_SYSTEMS,
    ])
    .addHelpText("after", EXAMPLES)
    .action(async (options: ClusterDoctor) => {
      await withCluster(options, async ({ client, transport, connection }) => {
        const systems = systemsOf(options.systems);
        const of = { client, transport, connection, clock, namespace: options.operatorNamespace, systems };
        await report(clusterChecks(of), options);
      });
    });
  addClusterOptions(
    shown(
      doctor
        .command("account")
        .description("Whether the credentials of a provider are there, and whether it takes them."),
    ),
  )
    .argument(
      "[provider]",
      "name of a MachineProvider; unset: all of them, and the operator's own Secret where there is none",
    )
    .option("--operator-namespace <namespace>", "where the operator's own Secret is", DEFAULT_NAMESPACE)
    .addHelpText("after", EXAMPLES)
    .action((provider: string | undefined, options: ClusterDoctor) => accounts(provider, options));
  addNetbootOptions(
    shown(
      doctor
        .command("network")
        .description("Interface, boot files, ports, other DHCP servers and name servers, for a netboot here."),
    ),
  )
    .option("--assets <folder>", "what `make agent` has put together; unset: $SLIPWAY_NETBOOT_ASSETS, else the cache")
    .addHelpText(
      "after",
      `\nIt takes the options of slipway netboot. Other DHCP servers are asked for an offer that nobody takes; that needs root.\n${EXAMPLES}`,
    )
    .action(async (options: NetbootOptions & Shown & { assets?: string }) => {
      const settings = await settingsOf(options);
      const assets = options.assets ?? assetsFolder(process.env);
      await report(
        networkChecks({ settings, assets, dhcpServers: (device) => dhcpServersOn(device, { clock, random }) }),
        options,
      );
    });
};

const shown = (command: Command): Command =>
  command.addOption(new Option("-o, --output <format>", "unset: a line for each finding").choices(["json", "yaml"]));

async function report(checks: readonly Check[], { output }: Shown): Promise<void> {
  const findings = secrets.clean(await findingsOf(checks));
  if (output !== undefined) console.log(documentOf({ findings }, output));
  else for (const line of findingLines(findings)) console.log(line);
  if (findings.some(({ is }) => is === "problem")) process.exitCode = 1;
}

interface Open {
  client: ReturnType<typeof createClient>;
  transport: Transport;
  connection: Connection;
}

async function withCluster(options: ClusterOptions, work: (open: Open) => Promise<void>): Promise<void> {
  const connection = await connectionTo(options);
  const transport = createHttpTransport(connection);
  try {
    await reach(transport, connection.server);
    const client = createClient(transport, { clock, random, log });
    await work({ client, transport, connection });
  } finally {
    await transport.close();
  }
}

async function accounts(provider: string | undefined, options: ClusterDoctor): Promise<void> {
  const clients = new HttpClients();
  try {
    await withCluster(options, async ({ client, transport }) => {
      const { operatorNamespace: namespace } = options;
      const found = provider === undefined ? await providersIn(client) : { names: [provider], checks: [] };
      const hosts = { client, list: async () => [] };
      const ports = operatorPorts({ client, transport, namespace, clients, hosts });
      const own = { namespace, secret: DEFAULT_SECRET, onSecret: (value: string) => secrets.add(value) };
      const specs = found.names.length === 0 ? [{}] : found.names.map((name) => ({ providerRef: { name } }));
      const each = specs.map((spec) => accountCheck(ports.accounts, accountOf(spec, client, own)));
      await report([...found.checks, ...each], options);
    });
  } finally {
    await clients.close();
  }
}

/** The names of all MachineProviders; where they may not be listed, a finding says so, and the operator's own Secret is looked at alone. */
async function providersIn(client: Open["client"]): Promise<{ names: string[]; checks: Check[] }> {
  try {
    const { items } = await client.list(MachineProvider);
    return { names: items.map(({ metadata }) => metadata.name), checks: [] };
  } catch (error) {
    if (isFault(error, "NotFound")) return { names: [], checks: [] };
    if (!isFault(error, "Forbidden")) throw error;
    return { names: [], checks: [{ about: "MachineProviders", look: () => Promise.reject(error) }] };
  }
}
