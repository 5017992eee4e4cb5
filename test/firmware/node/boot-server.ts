import { createReadStream, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { JoinSeed } from "../../../src/lab/vino/join-seed.ts";
import { grubPath } from "../../../src/netboot/grub/path.ts";

/** Serves a node image, and to each machine by its name a script (iPXE's, or GRUB's, which UEFI machines start) and its seed. */
export class BootServer {
  readonly #server: Server;
  readonly #url: string;
  readonly #seeds = new Map<string, JoinSeed>();

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.#url = url;
  }

  static async start(address: string, image: string): Promise<BootServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const { port } = server.address() as { port: number };
    const made = new BootServer(server, `http://${address}:${port}`);
    server.on("request", ({ url = "" }, response) => {
      const text = made.#text(url);
      if (text !== undefined) return void response.end(text);
      const [, file] = /^\/(vmlinuz|initrd|root\.squashfs)$/.exec(url) ?? [];
      if (file === undefined) return void response.writeHead(404).end();
      // GRUB knows the field by this spelling alone.
      response.setHeader("Content-Length", statSync(join(image, file)).size);
      // A machine that is switched off meanwhile takes no more.
      pipeline(createReadStream(join(image, file)), response).catch(() => {});
    });
    return made;
  }

  /** The URL of a machine's script, which starts the image with this seed. */
  add(machine: string, script: "ipxe" | "grub", seed: JoinSeed): string {
    this.#seeds.set(machine, seed);
    return `${this.#url}/${machine}/${script}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #text(url: string): string | undefined {
    const [, machine = "", what = ""] = /^\/([^/]+)\/([^/]+)$/.exec(url) ?? [];
    const seed = this.#seeds.get(machine);
    const words = `quiet mitigations=off tsc=unstable slipway.check=size slipway.root=${this.#url}/root.squashfs ds=nocloud;s=${this.#url}/${machine}/`;
    const texts: Readonly<Record<string, string | undefined>> = {
      ipxe: `#!ipxe
kernel ${this.#url}/vmlinuz console=ttyS0 ${words} initrd=initrd
initrd --name initrd ${this.#url}/initrd
boot
`,
      grub: `linux ${grubPath(`${this.#url}/vmlinuz`)} console=ttyAMA0 ${words.replace(";", "\\;")}
initrd ${grubPath(`${this.#url}/initrd`)}
boot
`,
      "user-data": seed?.userData,
      "meta-data": seed?.metaData,
    };
    return seed === undefined ? undefined : texts[what];
  }
}
