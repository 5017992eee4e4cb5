import { ImageLayout } from "../image/oci.ts";

export interface Image {
  /** With registry and tag: what a Pod asks for. */
  name: string;
  architecture: string;
  /** The folder that is its only layer. */
  root: string;
  entrypoint: readonly string[];
  /** Unset: TERM. */
  stopSignal?: string;
}

/** Writes an image as an OCI layout into a folder. Same contents, same bytes. The layer is not packed: who stores it packs it, or uses it as it is. */
export async function writeImageLayout(
  folder: string,
  { name, architecture, root, entrypoint, stopSignal }: Image,
): Promise<void> {
  const layout = new ImageLayout(folder);
  const { descriptor, diffId } = await layout.layer(root, { packed: false });
  const config = layout.json("application/vnd.oci.image.config.v1+json", {
    os: "linux",
    architecture,
    config: {
      Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      Entrypoint: entrypoint,
      WorkingDir: "/",
      ...(stopSignal !== undefined && { StopSignal: stopSignal }),
    },
    rootfs: { type: "layers", diff_ids: [diffId] },
  });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = layout.json(mediaType, { schemaVersion: 2, mediaType, config, layers: [descriptor] });
  const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
  layout.finish([{ ...manifest, platform: { os: "linux", architecture }, annotations }]);
}
