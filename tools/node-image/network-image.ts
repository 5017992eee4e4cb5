/**
 * `make network-image`: writes `dist/network-image/ARCHITECTURE`, an OCI layout with the network's program alone (`node-net`), for add-on
 * `network` of workload clusters whose nodes are not of the node image. Push it with any tool for OCI layouts; needs Go.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, VERSION } from "@slipway/base";
import { BINARIES } from "../../test/kubernetes/assets/binaries.ts";
import { NODE_ARCHITECTURES, nodeBinary } from "../../test/kubernetes/assets/node-binaries.ts";
import { provide } from "../../test/kubernetes/assets/provide.ts";
import { writeImageLayout } from "./image-layout.ts";

const dist = process.argv[2] ?? join(import.meta.dirname, "../../dist/network-image");
const names = NODE_ARCHITECTURES.map((architecture) => nodeBinary("node-net", "1.36", architecture));
const sources = join(import.meta.dirname, "../../test/kubernetes/assets");
const say = (text: string): void => console.log(`network-image: ${text}`);
const assets = await provide({ binaries: BINARIES, names, sources, env: process.env, clock: systemClock, say });
const root = mkdtempSync(join(tmpdir(), "slipway-network-"));
try {
  for (const [i, architecture] of NODE_ARCHITECTURES.entries()) {
    copyFileSync(join(assets, names[i]!), join(root, "node-net"));
    const folder = join(dist, architecture);
    mkdirSync(folder, { recursive: true });
    const name = `slipway/node-network:${VERSION}`;
    await writeImageLayout(folder, { name, architecture, root, entrypoint: ["/node-net"] });
    say(`${folder}: ${name}`);
  }
} finally {
  rmSync(root, { recursive: true });
}
