import { createReadStream, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { JoinSeed } from "../../../src/lab/vino/join-seed.ts";

/** Serves a node image, and to each machine by its name an iPXE script and its seed. */
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
      response.setHeader("content-length", statSync(join(image, file)).size);
      // A machine that is switched off meanwhile takes no more.
      pipeline(createReadStream(join(image, file)), response).catch(() => {});
    });
    return made;
  }

  /** The URL of a machine's script, which starts the image with this seed. */
  add(machine: string, seed: JoinSeed): string {
    this.#seeds.set(machine, seed);
    return `${this.#url}/${machine}/ipxe`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #text(url: string): string | undefined {
    const [, machine = "", what = ""] = /^\/([^/]+)\/([^/]+)$/.exec(url) ?? [];
    const seed = this.#seeds.get(machine);
    const texts: Readonly<Record<string, string | undefined>> = {
      ipxe: `#!ipxe
kernel ${this.#url}/vmlinuz console=ttyS0 quiet mitigations=off tsc=unstable initrd=initrd slipway.check=size slipway.root=${this.#url}/root.squashfs ds=nocloud;s=${this.#url}/${machine}/
initrd --name initrd ${this.#url}/initrd
boot
`,
      "user-data": seed?.userData,
      "meta-data": seed?.metaData,
    };
    return seed === undefined ? undefined : texts[what];
  }
}
