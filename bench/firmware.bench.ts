/**
 * From power-on to the agent's first report, by emulated machines with real firmware: Slipway's DHCP and TFTP, and in turn with them
 * dnsmasq's (`apt-get install dnsmasq-base`), with the same loaders, scripts, kernel and initramfs. Needs QEMU and `make agent`; runs in a
 * network of its own. `ROUNDS`: of each; the best counts, since what else the machine does is nobody's fault. `ONLY`: one chain. When what
 * was asked for is printed of the best round.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { Firmware } from "../src/lab/machine.ts";
import { LAB, planMachines, setUpRack } from "../src/lab/rack.ts";
import { assetsFolder } from "../src/netboot/agent/assets-folder.ts";
import { firstGrubScript } from "../src/netboot/boot/grub-scripts.ts";
import { grubScript } from "../src/netboot/grub/script.ts";
import { startNetboot } from "../src/netboot/service/service.ts";
import { netbootSettings } from "../src/netboot/settings.ts";
import { until } from "../test/firmware/until.ts";
import { type Mark, Phases, phaseLines } from "./firmware-phases.ts";
import { measureInOwnNetwork } from "./own-network.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const CHAINS = (["bios", "uefi-secure", "arm64"] satisfies Firmware[]).filter((chain) =>
  chain.startsWith(process.env.ONLY ?? ""),
);
const SERVERS = ["Slipway", "dnsmasq"] as const;
const MOST_SECONDS = 300;
/** What the same chains took when they were first measured (BIOS with iPXE, UEFI with shim and GRUB). */
const MARKS: Partial<Record<Firmware, number>> = { bios: 21.6, "uefi-secure": 14 };

await measureInOwnNetwork(CHAINS, measure, { dnsmasq: "dnsmasq-base" });

async function measure(): Promise<void> {
  printMachine(`power-on to the agent's first report, emulated; best of ${ROUNDS}`);
  for (const firmware of CHAINS) {
    const boots = await boot(firmware);
    const best = { Slipway: bestOf(boots.Slipway), dnsmasq: bestOf(boots.dnsmasq) };
    const [ours, theirs] = [best.Slipway.seconds, best.dnsmasq.seconds];
    keep(`${firmware}, Slipway`, ours, "s");
    keep(`${firmware}, dnsmasq`, theirs, "s");
    for (const server of SERVERS) console.log(`${firmware}: ${server.padEnd(8)} ${shown(boots[server])}`);
    for (const line of phaseLines({ Slipway: best.Slipway.marks, dnsmasq: best.dnsmasq.marks })) console.log(line);
    console.log(
      `${firmware}: goal, not slower than dnsmasq by more than a tenth: ${ours <= theirs * 1.1 ? "met" : "MISSED"}`,
    );
    const mark = MARKS[firmware];
    if (mark !== undefined) console.log(`${firmware}: mark ${mark} s`);
  }
}

async function boot(firmware: Firmware): Promise<Record<(typeof SERVERS)[number], Boot[]>> {
  const boots = { Slipway: [] as Boot[], dnsmasq: [] as Boot[] };
  for (let round = 0; round < ROUNDS; round++)
    for (const server of SERVERS) boots[server].push(await bootOf(firmware, server));
  return boots;
}

interface Boot {
  seconds: number;
  marks: readonly Mark[];
}

function bestOf(boots: readonly Boot[]): Boot {
  return boots.reduce((a, b) => (b.seconds < a.seconds ? b : a));
}

function shown(boots: readonly Boot[]): string {
  return `${bestOf(boots).seconds.toFixed(1)} s (${boots.map(({ seconds }) => seconds.toFixed(1)).join(", ")})`;
}

async function bootOf(firmware: Firmware, server: (typeof SERVERS)[number]): Promise<Boot> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-firmware-bench-"));
  const rack = await setUpRack(folder, planMachines(1, [firmware], { memoryMiB: 1024, diskBytes: 1024 ** 3 }));
  const isOurs = server === "Slipway";
  const settings = netbootSettings(
    {
      interface: LAB.bridge,
      dhcp: isOurs
        ? { subnets: [{ network: LAB.network, pools: [{ first: LAB.first, last: LAB.last }] }] }
        : { mode: "off" },
      tftp: { enabled: isOurs },
      boot: { arguments: ["console=ttyS0"] },
    },
    "the benchmark",
  );
  const assets = assetsFolder(process.env);
  const netboot = await startNetboot({ settings, assets, dir: join(folder, "netboot") }, { clock, random, log });
  let began = performance.now();
  const phases = new Phases(() => (performance.now() - began) / 1000);
  const stop = isOurs ? async () => {} : await dnsmasq(join(folder, "dnsmasq"), assets, netboot.url, phases);
  try {
    const [machine] = rack.machines;
    const { mac } = machine!.spec;
    machine!.console.listen((text) => phases.console(text));
    // Each is seen when DHCP is asked first; dnsmasq says that by itself.
    if (isOurs) netboot.hosts.onChange(() => phases.mark("DHCP, asked"));
    const powerOn = clock.now();
    began = performance.now();
    await machine!.powerOn();
    await until(netboot.hosts, machine!, {
      is: ({ inventoryAt }) => inventoryAt !== undefined,
      seconds: MOST_SECONDS,
      missing: "report",
    });
    const seconds = (performance.now() - began) / 1000;
    phases.mark("the agent's report", seconds);
    for await (const line of netboot.logs.read(mac)) phases.slipway(line, powerOn);
    return { seconds, marks: phases.marks };
  } finally {
    await stop();
    await netboot.close();
    await rack.close();
    await rm(folder, { recursive: true });
  }
}

/** DHCP and TFTP for the same chain; scripts, kernel and initramfs come from the same HTTP server in both cases. */
async function dnsmasq(folder: string, assets: string, url: string, phases: Phases): Promise<() => Promise<void>> {
  await mkdir(join(folder, "grub"), { recursive: true, mode: 0o755 });
  for (const name of await readdir(join(assets, "boot")))
    await copyFile(join(assets, "boot", name), join(folder, name));
  await writeFile(join(folder, "grub/grub.cfg"), grubScript(firstGrubScript(url)));
  const server = spawn(
    "dnsmasq",
    [
      ...["--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--user=root", "--no-ping", "--bind-interfaces"],
      ...[`--interface=${LAB.bridge}`, `--dhcp-range=${LAB.first},${LAB.last},10m`, "--dhcp-authoritative"],
      ...[`--dhcp-leasefile=${join(folder, "leases")}`, "--enable-tftp", `--tftp-root=${folder}`],
      ...["--dhcp-match=set:ipxe,175", `--dhcp-boot=tag:ipxe,${url}/boot.ipxe`],
      ...["--dhcp-match=set:uefi,option:client-arch,7", "--dhcp-boot=tag:uefi,shimx64.efi"],
      ...["--dhcp-match=set:arm64,option:client-arch,11", "--dhcp-boot=tag:arm64,shimaa64.efi"],
      "--log-facility=-",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  phases.dnsmasq(server.stderr);
  const gone = once(server, "exit");
  return async () => {
    server.kill();
    await gone;
  };
}
