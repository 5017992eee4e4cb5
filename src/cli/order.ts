import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { systemClock as clock, Fault, isFault } from "@slipway/base";
import { type Command, Option } from "commander";
import type { ShownHost } from "../netboot/local-api.ts";
import type { UserOrder } from "../netboot/protocol/order.ts";
import { hostArgument } from "./logs.ts";
import { type NetbootClient, withNetboot } from "./netboot-client.ts";
import { positiveNumber } from "./option-values.ts";
import { standing, type Waiting } from "./order-standing.ts";
import { say } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

const LOOK_MS = 500;

interface Common {
  dir?: string;
  wait: boolean;
  /** Seconds. */
  timeout: number;
}

/** `slipway order`: gives a host an order and waits for its result, but for `--no-wait`. */
export const verb: Verb = (program) => {
  const order = program
    .command("order")
    .description("Have a host that waits in the agent do something.")
    .addHelpText(
      "after",
      `
Examples:
  slipway order write host/host-52-54-00-12-34-56 --image debian.raw.zst --user-data user-data.yaml
  slipway order boot host/host-52-54-00-12-34-56 disk
  slipway order reboot host/host-52-54-00-12-34-56
  slipway order wipe host/host-52-54-00-12-34-56 --how metadata --yes`,
    );
  const verbOf = (name: string, about: string): Command =>
    order
      .command(name)
      .description(about)
      .argument("<host>", "host/NAME, NAME, or the address of one of its cards")
      .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
      .option("--no-wait", "return once the order is given")
      .option(
        "--timeout <seconds>",
        "wait no longer when the host does not take it, or says nothing, for so long; the order stays",
        positiveNumber,
        600,
      );

  for (const [name, about] of [
    ["inspect", "Report the hardware again."],
    ["reboot", "Start again through the firmware."],
    ["poweroff", "Switch the machine off."],
  ] as const)
    verbOf(name, about).action((host: string, options: Common) => give(host, { order: name }, options));

  verbOf("wipe", "Erase disks, and read back what was erased.")
    .addOption(
      new Option("--how <way>", "metadata: signatures and partition tables; discard, full, secure: everything")
        .choices(["metadata", "discard", "full", "secure"])
        .default("metadata"),
    )
    .option("--disk <name...>", "only these; unset: all")
    .requiredOption("--yes", "what is on the disks is lost")
    .action((host: string, options: Common & { how: "metadata"; disk?: string[] }) =>
      give(host, { order: "wipe", how: options.how, disks: options.disk ?? "all" }, options),
    );

  verbOf("write", "Write an image to a disk.")
    .requiredOption(
      "--image <file|url>",
      "raw, .gz, .zst, .xz or .qcow2; a file of this machine or an URL that the host reaches",
    )
    .option("--checksum <type:value>", "of the image as it lies there, such as sha256:…")
    .option("--secret-image", "the image holds secrets: encrypt it to the host's agent on its way; takes a file")
    .option("--disk <name>", "unset: the smallest from 4 GiB")
    .option("--user-data <file>", "cloud-init's user data for the first boot; always goes encrypted")
    .option("--network-config <file>", "cloud-init's network configuration")
    .action(async (host: string, options: WriteOptions) => give(host, await writeOrder(host, options), options));

  order
    .command("cancel")
    .description("End an order that has no result, so that the host may be given another.")
    .argument("<host>", "host/NAME, NAME, or the address of one of its cards")
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .action(async (host: string, { dir }: { dir?: string }) => {
      const path = `/hosts/${hostArgument(host)}/orders`;
      const { taken } = await withNetboot(dir, (client) => client.ask<{ taken: boolean }>("DELETE", path));
      console.log(taken ? "cancelled; the host had taken it, and may go on with it" : "cancelled");
    });

  order
    .command("boot")
    .description("Say what a host boots next.")
    .argument("<host>", "host/NAME, NAME, or the address of one of its cards")
    .argument("<what>", "agent, disk, wait, or the URL of a script")
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .action(async (host: string, what: string, { dir }: { dir?: string }) => {
      const boot = /^https?:/.test(what) ? { chain: what } : what;
      const path = `/hosts/${hostArgument(host)}/boot`;
      await withNetboot(dir, (client) => client.ask("PUT", path, boot));
    });
};

interface WriteOptions extends Common {
  image: string;
  secretImage?: boolean;
  checksum?: string;
  disk?: string;
  userData?: string;
  networkConfig?: string;
}

async function writeOrder(host: string, options: WriteOptions): Promise<UserOrder> {
  const { image, secretImage, checksum, disk, userData, networkConfig } = options;
  const data = {
    ...(userData !== undefined && { "user-data": await textOf(userData) }),
    ...(networkConfig !== undefined && { "network-config": await textOf(networkConfig) }),
  };
  const name = hostArgument(host).replaceAll(/[:.]/g, "-");
  return {
    order: "write",
    image: /^https?:\/\//.test(image) ? image : resolve(image),
    ...(secretImage && { secret: true }),
    ...(checksum !== undefined && { checksum }),
    ...(disk !== undefined && { disk }),
    // cloud-init takes a data source for one only with both files.
    ...(Object.keys(data).length > 0 && {
      data: { "meta-data": `instance-id: ${name}-${clock.now()}\nlocal-hostname: ${name}\n`, ...data },
    }),
  };
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    throw new Fault("MissingInput", file, "can't be read", { cause });
  });
}

async function give(host: string, wanted: UserOrder, { dir, wait, timeout }: Common): Promise<void> {
  const name = hostArgument(host);
  await withNetboot(dir, async (client) => {
    const { id } = await client.ask<{ id: string }>("POST", `/hosts/${name}/orders`, wanted);
    if (wait) await followed(client, name, { id, since: clock.now(), patienceMs: timeout * 1000 });
    else console.log(id);
  });
}

/** Prints each step as it comes; sets the exit code when it ended badly. */
async function followed(client: NetbootClient, name: string, waiting: Omit<Waiting, "now">): Promise<void> {
  for (let shown = ""; ; await clock.sleep(LOOK_MS)) {
    const host = await shownHost(client, name);
    const result = host.order?.is.id === waiting.id ? host.order.result : undefined;
    if (result === undefined) {
      const step = standing(host, { ...waiting, now: clock.now() });
      if (step !== shown) say(step);
      shown = step;
      continue;
    }
    return sayResult(result);
  }
}

async function shownHost(client: NetbootClient, name: string): Promise<ShownHost> {
  return await client.ask<ShownHost>("GET", `/hosts/${name}`).catch((cause: unknown) => {
    if (!isFault(cause, "Unavailable", "LostAnswer")) throw cause;
    throw new Fault("LostAnswer", name, "its netboot went away before the order had ended", {
      remedy: "the host goes on with it; slipway get unleased -o wide shows how far it is once netboot runs again",
      cause,
    });
  });
}

function sayResult({ ok, message, disks = [] }: NonNullable<NonNullable<ShownHost["order"]>["result"]>): void {
  const ended = ok ? "done" : "failed";
  say(message === "" ? ended : `${ended}: ${message}`);
  for (const { disk, how, proven, detail } of disks)
    say(`  ${disk}: ${how}, ${proven ? "proven" : "not proven"}: ${detail}`);
  if (!ok) process.exitCode = 1;
}
