/**
 * From power-on to the agent's first report, by emulated machines with real firmware: Slipway's DHCP and TFTP, and in turn with them
 * dnsmasq's (`apt-get install dnsmasq-base`), with the same loaders, scripts, kernel and initramfs. Needs QEMU and `make agent`; runs in a
 * network of its own. `ROUNDS`: of each; the best counts, since what else the machine does is nobody's fault.
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
import { measureInOwnNetwork } from "./own-network.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const CHAINS: readonly Firmware[] = ["bios", "uefi-secure"];
const SERVERS = ["Slipway", "dnsmasq"] as const;
const MOST_SECONDS = 300;
/** What the same chains took when they were first measured (BIOS with iPXE, UEFI with shim and GRUB). */
const MARKS: Partial<Record<Firmware, number>> = { bios: 21.6, "uefi-secure": 14 };

await measureInOwnNetwork(CHAINS, measure, { dnsmasq: "dnsmasq-base" });

async function measure(): Promise<void> {
  printMachine(`power-on to the agent's first report, emulated; best of ${ROUNDS}`);
  for (const firmware of CHAINS) {
    const times = { Slipway: [] as number[], dnsmasq: [] as number[] };
    for (let round = 0; round < ROUNDS; round++)
      for (const server of SERVERS) times[server].push(await timeOf(firmware, server));
    const [ours, theirs] = [Math.min(...times.Slipway), Math.min(...times.dnsmasq)];
    keep(`${firmware}, Slipway`, ours, "s");
    keep(`${firmware}, dnsmasq`, theirs, "s");
    for (const server of SERVERS) console.log(`${firmware}: ${server.padEnd(8)} ${shown(times[server])}`);
    const mark = MARKS[firmware];
    console.log(
      `${firmware}: goal, not slower than dnsmasq by more than a tenth: ${ours <= theirs * 1.1 ? "met" : "MISSED"}`,
    );
    if (mark !== undefined) console.log(`${firmware}: mark ${mark} s`);
  }
}

function shown(times: readonly number[]): string {
  const best = Math.min(...times).toFixed(1);
  return `${best} s (${times.map((time) => time.toFixed(1)).join(", ")})`;
}

async function timeOf(firmware: Firmware, server: (typeof SERVERS)[number]): Promise<number> {
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
  const stop = isOurs ? async () => {} : await dnsmasq(join(folder, "dnsmasq"), assets, netboot.url);
  try {
    const [machine] = rack.machines;
    const began = performance.now();
    await machine!.powerOn();
    await until(netboot.hosts, machine!, {
      is: ({ inventoryAt }) => inventoryAt !== undefined,
      seconds: MOST_SECONDS,
      missing: "report",
    });
    return (performance.now() - began) / 1000;
  } finally {
    await stop();
    await netboot.close();
    await rack.close();
    await rm(folder, { recursive: true });
  }
}

/** DHCP and TFTP for the same chain; scripts, kernel and initramfs come from the same HTTP server in both cases. */
async function dnsmasq(folder: string, assets: string, url: string): Promise<() => Promise<void>> {
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
    ],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  const gone = once(server, "exit");
  return async () => {
    server.kill();
    await gone;
  };
}
