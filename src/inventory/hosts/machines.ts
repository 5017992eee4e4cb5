import type { Mac } from "@slipway/base";
import type { BootAction, GivenInstall, Host, HostChange } from "../../netboot/hosts/host.ts";
import type { Standing } from "../../netboot/hosts/trust.ts";
import type { InstallOffer, InstallUrls } from "../../netboot/http/installers.ts";
import type { UserOrder } from "../../netboot/protocol/order.ts";

/** The machines that were seen on the network, as the engine uses them: netboot's hosts and its orders. */
export interface Machines {
  /** Whether anything is known of machines at all: not while the service starts. */
  isServing(): boolean;
  /** By its name, or by any of its cards. */
  get(nameOrMac: string): Host | undefined;
  /** Calls back with every host that changes; returns what ends that. */
  onChange(listener: (change: HostChange) => void): () => void;
  /** Throws for a host that is not known. */
  standing(name: string): Standing;
  /** What it boots from now on. Throws for a host that is not known. */
  setBoot(name: string, boot: BootAction): void;
  /**
   * Has it start an installer from the network, once; with an id that it has already, the same is offered anew. `make` writes what it is
   * given, for the addresses of this installation. Throws a `Fault`, and what `make` throws.
   */
  install(name: string, id: string, make: (urls: InstallUrls) => InstallOffer): void;
  /** An installation has ended, as its owner decides. */
  endInstall(name: string, id: string, result: NonNullable<GivenInstall["result"]>): void;
  /**
   * A URL for HTTP boot that is good for the start that the machine's BMC is asked for now, and for its BMC alone (`BootAsker`). Undefined: there is
   * none for this architecture.
   */
  askBoot(mac: Mac, architecture: "x86_64" | "aarch64"): string | undefined;
  /** As `askBoot`, the URL of a CD that starts the agent from the machine's virtual drive, with UEFI. */
  askMedia(mac: Mac, architecture: "x86_64" | "aarch64"): string | undefined;
  /** The machine's power is changed in another way: what `askBoot` or `askMedia` gave counts no more. */
  endAskedBoot(mac: Mac): void;
  /** It is not known until it is seen again. */
  forget(name: string): void;
  /** Has its agent do it; asked for twice with one id, it is done once. Rejects with a `Fault`. */
  order(name: string, wanted: UserOrder, id: string): Promise<string>;
}
