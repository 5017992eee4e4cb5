/**
 * The CD that a machine's BMC puts into its virtual drive to start the agent: the signed shim and GRUB, and a configuration for this boot alone. GRUB has no
 * network there before it asks for one, so the configuration has the card that it is to take, and the address of the first script, below the boot's one-time value.
 */
import type { Mac } from "@slipway/base";
import { fileOf } from "../files/memory.ts";
import { patching } from "../files/patched.ts";
import type { Asker, FileSource, OpenFile } from "../files/source.ts";
import { grubScript } from "../grub/script.ts";
import { BOOT_VALUE, BOOT_VALUE_PREFIX } from "../hosts/asked-boots.ts";
import { bootCd } from "../media/boot-cd.ts";
import { fatImage } from "../media/fat.ts";
import type { SignedLoaders } from "./catalog.ts";
import { mediaGrubScript } from "./grub-scripts.ts";

export type MediaPlatform = keyof SignedLoaders;

const MEDIA = new RegExp(`^once/(${BOOT_VALUE})/+agent-(x64|arm64)\\.iso$`);

/** What stands in an image in the place of the value and the card, which have the same length. */
const ANY_VALUE = BOOT_VALUE_PREFIX + "x".repeat(43);
const ANY_MAC = "aa:bb:cc:dd:ee:ff";

/** By the UEFI specification (§3.5.1.1) what firmware starts; shim looks for GRUB beside itself. */
const NAMES = { x64: ["BOOTX64.EFI", "GRUBX64.EFI"], arm64: ["BOOTAA64.EFI", "GRUBAA64.EFI"] } as const;

/** Where the image of one boot is: good as long as its value is. */
export function mediaUrl(base: string, value: string, platform: MediaPlatform): string {
  return `${base}/once/${value}/agent-${platform}.iso`;
}

export interface AgentMediaOptions {
  /** Where the loaders are. */
  files: FileSource;
  signed: SignedLoaders;
  /** Where the machine reaches the HTTP service: `http://192.0.2.1:8080`. */
  base: string;
  /** The card of the machine whose boot has this value. */
  cardOf(value: string): Mac | undefined;
}

/** The images, at the addresses that `mediaUrl` gives while the boots' values are good; of others there are none. */
export function agentMedia({ files, signed, base, cardOf }: AgentMediaOptions): FileSource {
  const made = new Map<MediaPlatform, { of: string; image: OpenFile }>();
  const imageOf = async (platform: MediaPlatform, asker: Asker): Promise<OpenFile | undefined> => {
    const names = signed[platform];
    const loaders = names && (await Promise.all([files.open(names.shim, asker), files.open(names.grub, asker)]));
    try {
      const [shim, grub] = loaders ?? [];
      if (shim === undefined || grub === undefined) return undefined;
      const of = `${shim.version} ${grub.version}`;
      const known = made.get(platform);
      if (known?.of === of) return known.image;
      const image = imageWith(platform, base, await whole(shim), await whole(grub));
      made.set(platform, { of, image });
      return image;
    } finally {
      for (const each of loaders ?? []) await each?.close();
    }
  };
  return {
    async open(name, asker) {
      const [, value, platform] = MEDIA.exec(name) ?? [];
      const mac = value && cardOf(value);
      if (value === undefined || !mac) return undefined;
      const image = await imageOf(platform as MediaPlatform, asker);
      return image && patching(ANY_VALUE, value)(patching(ANY_MAC, mac)(image));
    },
  };
}

/** GRUB takes either file system for its origin, as the firmware shows them: both have its configuration. */
function imageWith(platform: MediaPlatform, base: string, shim: Uint8Array, grub: Uint8Array): OpenFile {
  const script = Buffer.from(grubScript(mediaGrubScript(ANY_MAC, `${base}/once/${ANY_VALUE}/grub/grub.cfg`)));
  const configuration = { "GRUB.CFG": script };
  const [first, second] = NAMES[platform];
  const bootImage = fatImage({ EFI: { BOOT: { [first]: shim, [second]: grub } }, GRUB: configuration });
  const image = fileOf(bootCd({ label: "SLIPWAY", folder: "GRUB", files: configuration, bootImage }));
  // Firmware of BMCs reads in many small parts, and each answer shows the version.
  return { ...image, version: image.version };
}

async function whole(file: OpenFile): Promise<Uint8Array> {
  return await file.read(0, file.size);
}
