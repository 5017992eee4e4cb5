/**
 * How fast the agent writes an image from HTTP to a disk, raw and packed by zstd, against `dd` and `zstd -dc | dd` in the same running kernel to the same
 * virtual disk. An emulated machine (QEMU, TCG), started without firmware, in QEMU's user network. Needs QEMU and `make agent`. `MIB` (256): of the
 * image, at most 300, since `dd` has its copies in memory; `ROUNDS` (3): of each, in turn; the best counts, since what else the machine does is nobody's fault.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { assetsFolder } from "../src/netboot/agent/assets-folder.ts";
import { packCpio } from "../src/netboot/agent/cpio.ts";
import type { OrderBody } from "../src/netboot/protocol/messages.ts";
import { DirectMachine, MAC } from "../test/firmware/agent/machine.ts";
import { AgentServer, CAPABILITY } from "../test/firmware/agent/server.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const MIB = 1 << 20;
const SIZE_MIB = Number(process.env.MIB ?? 256);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const MOST_SECONDS = 600;
const DISK = "virtio-VD01";

/**
 * In the place of the agent's wipe: `secure` fetches the image into memory, `discard` fetches it and forgets it, `full` takes its checksum, `metadata`
 * has `dd` write it with the agent's own options, where disks are named from what zstd unpacks.
 */
const DD_IN_PLACE_OF_WIPE = `wipe_disks() {
    case $(field .how) in
        secure) curl -sf -o /run/image "$SERVER/files/image" -o /run/image.zst "$SERVER/files/image.zst" && finish fetched ;;
        discard) curl -sf -o /dev/null "$SERVER/files/image" && finish fetched ;;
        full) finish "$(sha256sum </run/image)" ;;
    esac
    if [ "$(field '.disks | tostring')" != all ]; then
        zstd -dcq /run/image.zst |
            dd of="$DEV/vda" bs=1M iflag=fullblock conv=fsync,notrunc 2>"$RUN/dd" && finish "$(tail -n 1 "$RUN/dd")"
    fi
    dd if=/run/image of="$DEV/vda" bs=1M iflag=fullblock conv=fsync,notrunc 2>"$RUN/dd" && finish "$(tail -n 1 "$RUN/dd")"
    give_up "$(cat "$RUN/dd")"
}
`;
const agent = join(assetsFolder(process.env), "agent/x86_64");
if (!existsSync(join(agent, "keys"))) console.log("skipped: no agent: run make agent");
else if (spawnSync("qemu-system-x86_64", ["--version"]).error !== undefined)
  console.log("skipped: not installed: qemu-system-x86");
else await measure();

async function measure(): Promise<void> {
  const [qemu] = execFileSync("qemu-system-x86_64", ["--version"], { encoding: "utf8" }).split("\n");
  printMachine(`an image of ${SIZE_MIB} MiB written by the agent, and by dd; best of ${ROUNDS}; ${qemu}`);
  const folder = mkdtempSync(join(tmpdir(), "slipway-write-bench-"));
  const server = await AgentServer.start();
  symlinkSync(join(agent, "vmlinuz"), join(folder, "vmlinuz"));
  writeFileSync(join(folder, "initrd"), withDd(readFileSync(join(agent, "initrd"))));
  const words = [
    `slipway.url=${server.url()}`,
    server.rest(agent),
    `slipway.boot=${CAPABILITY}`,
    `BOOTIF=01-${MAC.replaceAll(":", "-")}`,
  ];
  const machine = new DirectMachine("x86_64", folder, words, { diskBytes: (SIZE_MIB + 64) * MIB });
  try {
    await server.key();
    const image = halfRandom(SIZE_MIB * MIB);
    const packed = zstdCompressSync(image);
    server.files.set("image", image);
    server.files.set("image.zst", packed);
    const instead = (how: "secure" | "discard" | "full" | "metadata") =>
      ({ order: "wipe", how, disks: "all" }) as const;
    await timeOf(server, instead("secure"));
    const write = { order: "write", disk: DISK, url: server.url("image"), format: "raw" } as const;
    const unpacked = { ...write, url: server.url("image.zst"), format: "zst" } as const;
    const packedSum = { type: "sha256", value: createHash("sha256").update(packed).digest("hex") } as const;
    const checksum = { type: "sha256", value: createHash("sha256").update(image).digest("hex") } as const;
    const orders: Record<string, OrderBody> = {
      dd: instead("metadata"),
      "zstd -dc | dd": { ...instead("metadata"), disks: ["packed"] },
      "fetched alone": instead("discard"),
      "sha256 alone": instead("full"),
      "agent, raw": write,
      "agent, raw, sha256": { ...write, checksum },
      "agent, zst": unpacked,
      "agent, zst, sha256": { ...unpacked, checksum: packedSum },
    };
    await compare(server, orders);
  } finally {
    await machine.close();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

async function compare(server: AgentServer, orders: Readonly<Record<string, OrderBody>>): Promise<void> {
  const best = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, order] of Object.entries(orders))
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, await timeOf(server, order)));
  for (const [name, seconds] of best) {
    keep(name, seconds, "s");
    const rate = `${(SIZE_MIB / seconds).toFixed(0)} MiB/s`;
    const peer = name.includes("zst") ? "zstd -dc | dd" : "dd";
    const share = (best.get(peer)! / seconds).toFixed(2);
    console.log(`${name.padEnd(20)} ${seconds.toFixed(2)} s, ${rate}, ${share} of ${peer}`);
  }
}

/** Half of it can be packed, as of a system's files. */
function halfRandom(bytes: number): Buffer {
  const image = randomBytes(bytes);
  const text = Buffer.from("A line of text that is in many files of a system.\n".repeat(80));
  for (let at = 0; at < bytes; at += 8192) text.copy(image, at, 0, 4096);
  return image;
}

/** Seconds from the order until its result has come. */
async function timeOf(server: AgentServer, order: OrderBody): Promise<number> {
  const began = performance.now();
  const { ok, message } = await server.give(order, MOST_SECONDS);
  if (!ok) throw new Error(`${order.order}: ${message}`);
  return (performance.now() - began) / 1000;
}

/** The initramfs with an archive behind it, whose files take the place of its own. */
function withDd(initrd: Buffer): Buffer {
  const content = Buffer.from(DD_IN_PLACE_OF_WIPE);
  const own = packCpio(new Map([["agent/wipe.sh", { is: "file", content, executable: false }]]));
  return Buffer.concat([initrd, Buffer.alloc(-initrd.length & 3), own]);
}
