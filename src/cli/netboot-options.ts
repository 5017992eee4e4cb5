import { resolve } from "node:path";
import { Fault } from "@slipway/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type NetbootSettings, netbootSettings } from "../netboot/settings.ts";
import { isPart, settingsFile } from "../netboot/settings-file.ts";
import { portNumber } from "./option-values.ts";

export interface NetbootOptions {
  config?: string;
  interface?: string;
  dhcp?: string;
  subnet?: string;
  range?: { first: string; last: string }[];
  gateway?: string;
  dns?: string[];
  foreign?: string[];
  bootFiles?: string;
  unknown?: string;
  trust?: string;
  tpmAuthorities?: string;
  bootScript?: string;
  iso?: Record<string, string>;
  httpPort?: number;
  plunderApi?: number | true;
  namespace?: string;
}

const MODES = ["pool", "proxy", "reservations", "off"];
const ACTIONS = ["agent", "wait", "disk"];
const TRUST = ["approved", "first-seen", "by-namespace"];

/** Adds the options that settle what is served; `settingsOf` reads them. */
export function addNetbootOptions(command: Command): Command {
  return command
    .option("--config <file>", "settings as YAML; what is said on the command line goes before")
    .option("--interface <name>", "network interface that machines are reached by; unset: the only one with an address")
    .addOption(new Option("--dhcp <mode>", "how addresses are given (pool)").choices(MODES))
    .option("--subnet <network>", "network that addresses are given in, such as 10.20.0.0/24")
    .option("--range <first-last>", "addresses to give, such as 10.20.0.100-10.20.0.199; several with commas", ranges)
    .option("--gateway <address>", "gateway that DHCP gives to machines")
    .option("--dns <addresses>", "name servers that DHCP gives to machines, with commas", list)
    .option("--foreign <networks>", "networks in which another DHCP server gives the addresses, with commas", list)
    .option("--boot-files <folder>", "boot files of your own, which go before Debian's")
    .addOption(new Option("--unknown <action>", "what unknown machines boot (agent)").choices(ACTIONS))
    .addOption(
      new Option(
        "--trust <policy>",
        "machines that get user data and orders that write: declared or approved ones, or (first-seen) all that register, for labs; by-namespace: the latter where a Namespace says so",
      ).choices(TRUST),
    )
    .option(
      "--tpm-authorities <file>",
      "certificates (PEM) of TPMs' makers, one of which has to vouch for a TPM that is approved",
    )
    .option("--boot-script <url>", "iPXE script or GRUB configuration of your own for unknown machines")
    .option("--iso <name=file>", "serve the files inside an ISO image at /iso/NAME/; may be given again", isoImage)
    .option("--http-port <port>", "for scripts, kernel and initramfs (8080)", portNumber)
    .option("--plunder-api [port]", "serve plunder's API over TLS, to clients with a certificate (60443)", portNumber)
    .option("--namespace <name>", "where discovered hosts appear (slipway-hosts)");
}

/** File and options as one, checked. Rejects with a `Fault`, or with the system's error for a file that can't be read. */
export async function settingsOf(options: NetbootOptions): Promise<NetbootSettings> {
  const { config, bootFiles, tpmAuthorities } = options;
  const file = config === undefined ? {} : await settingsFile(config);
  const said = defined({
    interface: options.interface,
    dhcp: defined({ mode: options.dhcp, subnets: subnetsOf(options), foreign: options.foreign }),
    http: defined({ port: options.httpPort }),
    api: plunderApi(options.plunderApi, file),
    boot: defined({
      files: bootFiles === undefined ? undefined : resolve(bootFiles),
      unknown: options.unknown,
      script: options.bootScript,
      images: options.iso,
    }),
    trust: options.trust,
    tpmAuthorities: tpmAuthorities === undefined ? undefined : resolve(tpmAuthorities),
    discovery: defined({ namespace: options.namespace }),
  });
  const whole: Record<string, unknown> = { ...file };
  for (const [name, value] of Object.entries(said ?? {})) whole[name] = over(file[name], value);
  const sources = [...(config === undefined ? [] : [config]), ...(config && !said ? [] : ["the command line"])];
  return netbootSettings(whole, sources.join(" and "));
}

/** plunder's own port. */
const PLUNDER_PORT = 60_443;

/** The port of the file goes on being used, where the option names none. */
function plunderApi(said: number | true | undefined, file: Readonly<Record<string, unknown>>): object | undefined {
  if (said === undefined) return undefined;
  const ofFile = isPart(file.api) ? file.api.port : undefined;
  return { port: said === true ? (ofFile ?? PLUNDER_PORT) : said, plunder: true };
}

function subnetsOf({ subnet, range, gateway, dns }: NetbootOptions): object[] | undefined {
  if (subnet !== undefined) {
    const more = defined({ gateway, nameServers: dns });
    return [{ network: subnet, pools: range ?? [], ...more }];
  }
  if ((range ?? gateway ?? dns) === undefined) return undefined;
  throw new Fault("BadRequest", "netboot", "--range, --gateway and --dns belong to --subnet", {
    remedy: "name the network with --subnet, or write it into the file of --config",
  });
}

/** Without the names that have no value; undefined: none has one. */
function defined(given: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** What the command line says of a part, over what the file says; what is no part is left as it is, for the check to name it. */
function over(part: unknown, said: unknown): unknown {
  if (!isPart(said) || part === undefined || part === null) return said;
  return isPart(part) ? { ...part, ...said } : part;
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
