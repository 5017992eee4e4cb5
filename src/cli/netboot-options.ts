import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { load } from "js-yaml";
import { Fault } from "../base/fault.ts";
import { type NetbootSettings, netbootSettings } from "../netboot/settings.ts";
import { portNumber } from "./option-values.ts";

export interface NetbootOptions {
  config?: string;
  interface?: string;
  dhcp?: string;
  subnet?: string;
  range?: { first: string; last: string }[];
  gateway?: string;
  dns?: string[];
  bootFiles?: string;
  unknown?: string;
  bootScript?: string;
  iso?: Record<string, string>;
  httpPort?: number;
  namespace?: string;
}

/** Adds the options that settle what is served; `settingsOf` reads them. */
export function addNetbootOptions(command: Command): Command {
  return command
    .option("--config <file>", "settings as YAML; what is said on the command line goes before")
    .option("--interface <name>", "network interface that machines are reached by; unset: the only one with an address")
    .option("--dhcp <mode>", "pool, proxy, reservations or off (pool)")
    .option("--subnet <network>", "network that addresses are given in, such as 10.20.0.0/24")
    .option("--range <first-last>", "addresses to give, such as 10.20.0.100-10.20.0.199; several with commas", ranges)
    .option("--gateway <address>", "gateway that machines are told")
    .option("--dns <addresses>", "name servers that machines are told, with commas", list)
    .option("--boot-files <folder>", "boot files of your own, which go before Debian's")
    .option("--unknown <action>", "what machines boot that nobody knows: agent, wait or disk (agent)")
    .option("--boot-script <url>", "iPXE script or GRUB configuration of your own for machines that nobody knows")
    .option("--iso <name=file>", "serve the files inside an ISO image at /iso/NAME/; may be given again", isoImage)
    .option("--http-port <port>", "for scripts, kernel and initramfs (8080)", portNumber)
    .option("--namespace <name>", "where discovered hosts appear (slipway-hosts)");
}

/** File and options as one, checked. Rejects with a `Fault`. */
export async function settingsOf(options: NetbootOptions): Promise<NetbootSettings> {
  const source = options.config ?? "the command line";
  const file = options.config === undefined ? {} : await settingsFile(options.config);
  const part = (name: string): object => (file[name] ?? {}) as object;
  const { subnet, range, gateway, dns } = options;
  if (subnet === undefined && (range ?? gateway ?? dns) !== undefined)
    throw new Fault("BadRequest", "netboot", "--range, --gateway and --dns belong to --subnet", {
      remedy: "name the network with --subnet, or write it into the file of --config",
    });
  const network = subnet !== undefined && {
    subnets: [
      {
        network: subnet,
        pools: range ?? [],
        ...(gateway && { gateway }),
        ...(dns !== undefined && { nameServers: dns }),
      },
    ],
  };
  return netbootSettings(
    {
      ...file,
      ...(options.interface !== undefined && { interface: options.interface }),
      dhcp: { ...part("dhcp"), ...(options.dhcp !== undefined && { mode: options.dhcp }), ...network },
      http: { ...part("http"), ...(options.httpPort !== undefined && { port: options.httpPort }) },
      boot: {
        ...part("boot"),
        ...(options.bootFiles !== undefined && { files: options.bootFiles }),
        ...(options.unknown !== undefined && { unknown: options.unknown }),
        ...(options.bootScript !== undefined && { script: options.bootScript }),
        ...(options.iso !== undefined && { images: options.iso }),
      },
      discovery: { ...part("discovery"), ...(options.namespace !== undefined && { namespace: options.namespace }) },
    },
    source,
  );
}

async function settingsFile(path: string): Promise<Record<string, unknown>> {
  try {
    const read = load(await readFile(path, "utf8"), { filename: path }) ?? {};
    if (typeof read === "object" && !Array.isArray(read)) return read as Record<string, unknown>;
  } catch (cause) {
    throw new Fault("MissingInput", path, cause instanceof Error ? cause.message : String(cause), { cause });
  }
  throw new Fault("Invalid", path, "settings are names with values");
}

function isoImage(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("Give a name and a file: debian=/srv/debian-12.iso.");
  return { ...before, [name]: resolve(file!) };
}

function list(text: string): string[] {
  return text.split(",").map((each) => each.trim());
}

function ranges(text: string): { first: string; last: string }[] {
  return list(text).map((range) => {
    const [first, last, more] = range.split("-");
    if (first && last && more === undefined) return { first, last };
    throw new InvalidArgumentError("Give the first and the last address: 10.20.0.100-10.20.0.199.");
  });
}
