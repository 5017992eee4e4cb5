import { systemClock as clock, isFault } from "@slipway/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { loadVendors } from "../inventory/vendor.ts";
import { at } from "../kinds/cluster-api/field-path.ts";
import type { ShownHost } from "../netboot/local-api.ts";
import { fields, OUTPUTS, type Output } from "./listing/options.ts";
import { documentOf } from "./listing/print.ts";
import { type NetbootClient, withNetboot } from "./netboot-client.ts";
import { say, secrets } from "./outgoing.ts";
import { table } from "./unleased-table.ts";
import { untilStopped } from "./until-stopped.ts";

interface UnleasedOptions {
  dir?: string;
  output?: Output;
  watch?: boolean;
  fieldSelector?: string;
}

/** How often a watch asks: through a socket of this machine. */
const LOOK_MS = 1000;

/** Adds `get unleased`, which asks a netboot and no cluster. */
export function addUnleased(get: Command): void {
  get
    .command("unleased")
    .alias("hosts")
    .description("Machines that were seen on the network, the latest first.")
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .addOption(
      new Option(
        "-o, --output <format>",
        "wide: what it is, boots and does, how far it is trusted, its agent's key; name: host/NAME alone; or json, yaml",
      ).choices(OUTPUTS),
    )
    .option("-w, --watch", "go on and show what changes, until Ctrl-C")
    .option(
      "--field-selector <fields>",
      "only with these fields, as -o json has them: name, mac, address, architecture, firmware, boot, standing.trust, …",
      fields,
    )
    .addOption(
      refused(
        "-l, --selector <labels>",
        "What a netboot has seen has no labels. Its BareMetalHost may: slipway get machines -l LABELS.",
      ),
    )
    .addOption(
      refused(
        "-n, --namespace <namespace>",
        "What a netboot has seen is in no namespace. Its BareMetalHost is: slipway get machines -n NAMESPACE.",
      ),
    )
    .addHelpText(
      "after",
      `
Examples:
  slipway get unleased
  slipway get unleased -o json
  slipway get unleased --watch --field-selector standing.trust!=declared`,
    )
    .action(async ({ dir, ...options }: UnleasedOptions) => {
      await withNetboot(dir, (client) => (options.watch ? watched(client, options) : once(client, options)));
    });
}

/** An option of other listings, with the reason why it makes no sense here. */
function refused(flags: string, why: string): Option {
  return new Option(flags).hideHelp().argParser(() => {
    throw new InvalidArgumentError(why);
  });
}

async function once(client: NetbootClient, { output, fieldSelector }: UnleasedOptions): Promise<void> {
  const hosts = await hostsOf(client, fieldSelector);
  if (output === "name") printNames(hosts);
  else if (output === "json" || output === "yaml")
    console.log(documentOf({ hosts: await withInventories(client, hosts) }, output));
  else for (const line of table(hosts, await loadVendors(), clock.now(), output === "wide")) say(line);
}

const printNames = (hosts: readonly ShownHost[]): void => {
  for (const { name } of hosts) say(`host/${name}`);
};

/** Those that are selected, the latest first. */
async function hostsOf(client: NetbootClient, fieldSelector: string | undefined): Promise<ShownHost[]> {
  const isSelected = fieldsSelect(fieldSelector);
  return (await client.hosts()).filter(isSelected).sort((a, b) => b.lastSeen - a.lastSeen);
}

/** Whether a host has the fields `a.b=x,c!=y`; a field that it does not have is the empty text. Pure. */
export function fieldsSelect(fieldSelector: string | undefined): (host: object) => boolean {
  const wanted = (fieldSelector?.split(",") ?? []).map((one) => {
    const [, path = "", operator = "=", value = ""] = /^([\w.]+)(==?|!=)(.*)$/.exec(one) ?? [];
    return { path, value, equal: operator !== "!=" };
  });
  return (host) => wanted.every(({ path, value, equal }) => (String(at(host, path) ?? "") === value) === equal);
}

/** Inventories come one by one: all of them may be more than fits into one answer. */
async function withInventories(client: NetbootClient, hosts: readonly ShownHost[]): Promise<ShownHost[]> {
  const full: ShownHost[] = [];
  for (const { name } of hosts)
    try {
      full.push(await client.ask<ShownHost>("GET", `/hosts/${name}`));
    } catch (error) {
      // It was forgotten since it was listed.
      if (!isFault(error, "NotFound")) throw error;
    }
  return full;
}

/** Prints what there is, then what is new or differs in more than when it was seen, and what is forgotten. */
async function watched(client: NetbootClient, options: UnleasedOptions): Promise<void> {
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  const known = new Map<string, { host: ShownHost; text: string }>();
  for (let isFirst = true; !stopping.signal.aborted; isFirst = false) {
    const hosts = await hostsOf(client, options.fieldSelector);
    const changed = hosts.filter((host) => {
      const { lastSeen: _, ...rest } = host;
      const text = JSON.stringify(rest);
      const isNew = known.get(host.name)?.text !== text;
      known.set(host.name, { host, text });
      return isNew;
    });
    const names = new Set(hosts.map(({ name }) => name));
    const gone = [...known.values()].flatMap(({ host }) => (names.has(host.name) ? [] : [host]));
    for (const { name } of gone) known.delete(name);
    await printChanged(client, changed, options, { isFirst, suffix: "" });
    if (options.output === undefined || options.output === "wide")
      await printChanged(client, gone, options, { isFirst, suffix: "  (gone)" });
    await clock.sleep(LOOK_MS, stopping.signal).catch(() => {});
  }
}

async function printChanged(
  client: NetbootClient,
  hosts: readonly ShownHost[],
  { output }: UnleasedOptions,
  { isFirst, suffix }: { isFirst: boolean; suffix: string },
): Promise<void> {
  if (output === "name") return printNames(hosts);
  if (output === "json" || output === "yaml") {
    for (const host of await withInventories(client, hosts))
      console.log(output === "json" ? JSON.stringify(secrets.clean(host)) : `---\n${documentOf(host, "yaml")}`);
    return;
  }
  const [head = "", ...lines] = table(hosts, await loadVendors(), clock.now(), output === "wide");
  if (isFirst && suffix === "") say(head);
  for (const line of lines) say(`${line}${suffix}`);
}
