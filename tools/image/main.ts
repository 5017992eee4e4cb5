/**
 * Writes `dist/image`, an OCI image layout for amd64 and arm64 from scratch: Node, the libraries it is linked with, and the bundle
 * of `tools/bundle.ts`; beside it a bill of materials and checksums. Same inputs, same digests. Needs apt-get, dpkg-deb (Debian or Ubuntu), npm and GNU tar. Argument: another
 * folder than `dist`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault, VERSION } from "@slipway/base";
import { billOf, type Component, debianComponent, nodeComponent } from "../packages/bill.ts";
import { writeChecksums } from "../packages/checksums.ts";
import { cacheFolder } from "./cache.ts";
import { unpackDebian } from "./debian.ts";
import type { Elf } from "./elf.ts";
import { NODE_FLAGS, unpackNode } from "./node-binary.ts";
import { type Descriptor, ImageLayout } from "./oci.ts";
import { HOME, NOBODY, writeBase, writeProgram } from "./root.ts";

const dist = process.argv[2] ?? join(import.meta.dirname, "../../dist");
const cache = cacheFolder();
const work = mkdtempSync(join(tmpdir(), "slipway-image-"));
try {
  const layout = new ImageLayout(join(dist, "image"));
  const images = [await image("amd64", layout), await image("arm64", layout)];
  const manifests = images.map(({ descriptor }) => descriptor);
  const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests };
  const name = { "org.opencontainers.image.ref.name": VERSION };
  layout.finish([{ ...layout.json(index.mediaType, index), annotations: name }]);
  const contents = images.flatMap(({ components }) => components);
  const bill = billOf(join(dist, "bundle"), join(import.meta.dirname, "../../package-lock.json"), contents);
  writeFileSync(join(dist, "image.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
  writeChecksums(join(dist, "image.SHA256SUMS"), dist, ["image/index.json", "image.cdx.json"]);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  console.error(`image: ${error.advice}`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

interface Image {
  descriptor: Descriptor;
  /** What is in it beside the bundle. */
  components: Component[];
}

async function image(architecture: Elf["architecture"], layout: ImageLayout): Promise<Image> {
  const place = (name: string): string => join(work, architecture, name);
  const packages = unpackDebian(architecture, cache, place("debian"));
  const node = unpackNode(architecture, cache, place("node"));
  writeBase(place("base"), { architecture, debian: place("debian"), node: place("node"), packages });
  writeProgram(place("program"), join(dist, "bundle"));
  const layers = [await layout.layer(place("base")), await layout.layer(place("program"))];
  const labels = {
    "org.opencontainers.image.title": "slipway",
    "org.opencontainers.image.description": "Launches Kubernetes from bare metal",
    "org.opencontainers.image.version": VERSION,
    "org.opencontainers.image.licenses": "Apache-2.0",
    "dev.slipway.node": node,
    "dev.slipway.packages": packages.map(({ name, version }) => `${name}=${version}`).join(" "),
  };
  const config = layout.json("application/vnd.oci.image.config.v1+json", {
    os: "linux",
    architecture,
    config: {
      User: `${NOBODY}:${NOBODY}`,
      Env: ["PATH=/usr/bin", "MALLOC_ARENA_MAX=1"], // As in bin/slipway.
      Entrypoint: ["/usr/bin/node", ...NODE_FLAGS, `${HOME}/slipway.mjs`],
      Cmd: ["--help"],
      WorkingDir: "/",
      Labels: labels,
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const descriptors = layers.map(({ descriptor }) => descriptor);
  const manifest = { schemaVersion: 2, mediaType, config, layers: descriptors, annotations: labels };
  const megabytes = descriptors.reduce((sum, { size }) => sum + size, 0) / 1e6;
  console.log(`image: linux/${architecture}, node ${node}, ${megabytes.toFixed(1)} MB compressed`);
  const components = [
    nodeComponent(node, architecture),
    ...packages.map(({ name, version }) => debianComponent(name, version, architecture)),
  ];
  return {
    descriptor: { ...layout.json(mediaType, manifest), platform: { os: "linux", architecture } },
    components,
  };
}
