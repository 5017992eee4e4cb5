import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { Encrypter } from "age-encryption";

const PROGRAM = join(import.meta.dirname, "program");
const run = promisify(execFile);

/** As the server seals a file to an agent's key. */
export async function sealedTo(key: string, plain: Uint8Array): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(key);
  return Buffer.from(await encrypter.encrypt(plain));
}

/** Folders that stand for a machine: the agent's program sees its /sys and /dev there, and nothing of this machine's. */
export class FakeMachine {
  readonly folder = mkdtempSync(join(tmpdir(), "slipway-machine-"));

  constructor() {
    cpSync(PROGRAM, join(this.folder, "program"), { recursive: true });
    for (const name of ["sys/block", "sys/class/net", "sys/devices", "dev", "run/results", "run/work"])
      mkdirSync(join(this.folder, name), { recursive: true });
    this.file("program/version", "1.0.0\n");
    this.file("run/lines", "");
  }

  /** Writes a file, with the folders on its way. */
  file(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), content);
  }

  link(path: string, to: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    symlinkSync(relative(dirname(join(this.folder, path)), join(this.folder, to)), join(this.folder, path));
  }

  /**
   * A disk as the kernel shows it. `at`: of its device, below /sys/devices. `content`: the disk itself; without one it has only its
   * place. Files of the device by name.
   */
  disk(
    name: string,
    at: string,
    facts: { bytes: number; device?: Record<string, string | Uint8Array>; content?: Uint8Array },
  ): void {
    const block = `sys/devices/${at}/block/${name}`;
    const files = {
      size: facts.bytes / 512,
      removable: 0,
      ro: 0,
      "queue/rotational": 0,
      "queue/logical_block_size": 512,
    };
    for (const [file, value] of Object.entries(files)) this.file(`${block}/${file}`, `${value}\n`);
    for (const [file, value] of Object.entries(facts.device ?? {})) this.file(`sys/devices/${at}/${file}`, value);
    this.link(`${block}/device`, `sys/devices/${at}`);
    this.link(`sys/block/${name}`, block);
    if (facts.content !== undefined) this.file(`dev/${name}`, facts.content);
  }

  /** A network card on PCI, plugged in by default. */
  card(name: string, mac: string, { link = true }: { link?: boolean } = {}): void {
    const device = `sys/devices/pci0000:00/0000:00:19.0`;
    this.file(`${device}/vendor`, "0x8086\n");
    this.file(`${device}/device`, "0x10d3\n");
    const files = { address: mac, type: "1", carrier: link ? "1" : "0", speed: "1000" };
    for (const [file, value] of Object.entries(files)) this.file(`${device}/net/${name}/${file}`, `${value}\n`);
    this.link(`${device}/net/${name}/device`, device);
    this.link(`sys/class/net/${name}`, `${device}/net/${name}`);
  }

  /**
   * Runs a script with all parts of the program known to it. Whatever is written to is below this machine's folder. Rejects when
   * it fails.
   */
  async sh(script: string): Promise<string> {
    const parts = readdirSync(join(this.folder, "program")).filter((name) => /^(?!agent|dhcp).*\.sh$/.test(name));
    const all = [
      "set -u",
      `HERE=${this.folder}/program SYS=${this.folder}/sys DEV=${this.folder}/dev RUN=${this.folder}/run REST=''`,
      ...parts.map((name) => `. "$HERE/${name}"`),
      // The kernel has no table of these files.
      "reread_table() { :; }",
      script,
    ];
    const { stdout } = await run("sh", ["-c", all.join("\n")], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    });
    return stdout;
  }

  /** The lines that it said so far. */
  said(): string {
    return readFileSync(join(this.folder, "run/lines"), "utf8");
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
