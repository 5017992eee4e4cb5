import type { Mac } from "@slipway/base";

/** The maker of the card with this address, as the IEEE's registry names it in one line; "" where it has none or the address is made up. */
export type VendorOf = (mac: Mac) => string;

/** Reads the registry, five megabytes, once it is needed. */
export async function loadVendors(): Promise<VendorOf> {
  const { default: registry } = (await import("oui-data", { with: { type: "json" } })) as {
    default: Readonly<Record<string, string>>;
  };
  return (mac) => {
    const prefix = mac.slice(0, 8).replaceAll(":", "").toUpperCase();
    // QEMU's prefix is of the locally administered ones, which no registry lists.
    if (prefix === "525400") return "QEMU virtual machine";
    return registry[prefix]?.split("\n")[0] ?? "";
  };
}
