import type { Mac } from "@slipway/base";
import { mediaUrl } from "../boot/agent-media.ts";
import { askedFiles, askedUrl } from "../boot/asked-files.ts";
import type { SignedLoaders } from "../boot/catalog.ts";
import type { BootFiles } from "../dhcp/boot.ts";
import type { FileSource } from "../files/source.ts";
import type { AskedBoots } from "../hosts/asked-boots.ts";
import { cardOf, type Presences, plainAddress } from "../hosts/presence.ts";
import type { NetbootSettings } from "../settings.ts";

/** Boots that are asked for at machines' BMCs, as those who order them see it. */
export interface BootAsker {
  /**
   * The URL that the machine with this card is to fetch its loader from, by HTTP boot, at the start that its BMC is asked for now: with a value that is
   * good for one registration. It is for the BMC alone. Undefined: there is no loader of ours for this architecture.
   */
  askBoot(mac: Mac, architecture: "x86_64" | "aarch64"): string | undefined;
  /**
   * As `askBoot`, the URL of a CD for the machine's virtual drive, from which it starts the agent. The CD is there as long as the value is good, and is for
   * UEFI. Undefined: shim or GRUB are not there for this architecture.
   */
  askMedia(mac: Mac, architecture: "x86_64" | "aarch64"): string | undefined;
  /** The machine's power is changed in another way: the value of `askBoot` or `askMedia` counts no more. */
  endAskedBoot(mac: Mac): void;
}

/** How DHCP numbers firmware that boots by HTTP (option 93, RFC 5970), and what its loader is called. */
const HTTP_BOOT = {
  x86_64: { number: "16", platform: "x64" },
  aarch64: { number: "19", platform: "arm64" },
} as const;

/** `urls`: the loaders that everybody gets. Where the settings name a loader of the user's own, it may be anywhere. */
export function bootAsker(
  asked: AskedBoots,
  { byArchitecture }: NetbootSettings["boot"],
  { urls, signed, base }: Pick<BootFiles, "urls"> & { signed: SignedLoaders; base: string },
): BootAsker {
  return {
    askMedia(mac, architecture) {
      const { platform } = HTTP_BOOT[architecture];
      return signed[platform] && mediaUrl(base, asked.ask(mac), platform);
    },
    askBoot(mac, architecture) {
      const { number, platform } = HTTP_BOOT[architecture];
      const loader = byArchitecture?.[number] === undefined ? urls?.[platform] : undefined;
      return loader === undefined ? undefined : askedUrl(loader, asked.ask(mac));
    },
    endAskedBoot: (mac) => asked.end(mac),
  };
}

/** The files that such boots fetch; each shows who the machine is, where that is known at all. */
export function filesOfAsked(files: FileSource, asked: AskedBoots, presences: Presences): FileSource {
  return askedFiles(files, (from, value) => {
    const card = cardOf(presences.of(from));
    if (card !== undefined) asked.shown(card, value, plainAddress(from));
  });
}
