import { z } from "zod";
import { text } from "../optional.ts";
import { LOOSE_MAC } from "./fields.ts";

const vlan = z.int().min(0).max(4094);

/** What was found in a host, as BareMetalHost's status and HardwareData's spec carry it. */
export const HardwareDetails = z.object({
  systemVendor: z
    .object({
      manufacturer: text("Manufacturer."),
      productName: text("Product name."),
      serialNumber: text("Serial number."),
    })
    .optional()
    .describe("Manufacturer and product of the machine."),
  firmware: z
    .object({
      bios: z
        .object({ date: text("Release date."), vendor: text("Vendor."), version: text("Version.") })
        .optional()
        .describe("BIOS or UEFI firmware."),
    })
    .optional()
    .describe("Firmware."),
  ramMebibytes: z.int().optional().describe("Memory in mebibytes."),
  nics: z
    .array(
      z.object({
        name: text("Name in the agent's kernel."),
        model: text("PCI vendor and device."),
        mac: LOOSE_MAC.optional().describe("MAC address of the card."),
        ip: text("IP address."),
        speedGbps: z.int().optional().describe("Speed of the link in Gbit/s."),
        vlans: z
          .array(z.object({ id: vlan.optional(), name: text("Name.") }))
          .optional()
          .describe("VLANs that were seen."),
        vlanId: vlan.optional().describe("Untagged VLAN."),
        pxe: z.boolean().optional().describe("The host booted from this card."),
        pciAddress: text("PCI address."),
        lldp: z
          .object({
            portID: text("Port."),
            switchID: text("Address of the switch."),
            switchSystemName: text("Name of the switch."),
          })
          .optional()
          .describe("What the switch reports by LLDP."),
      }),
    )
    .optional()
    .describe("Network cards."),
  storage: z
    .array(
      z.object({
        name: text("Stable path, such as one below /dev/disk/by-id."),
        alternateNames: z.array(z.string()).optional().describe("Other paths."),
        rotational: z.boolean().optional().describe("The disk is rotational."),
        type: z.enum(["HDD", "SSD", "NVME"]).optional().describe("Kind of disk."),
        sizeBytes: z.int().optional().describe("Size in bytes."),
        vendor: text("Vendor."),
        model: text("Model."),
        serialNumber: text("Serial number."),
        wwn: text("World wide name."),
        wwnVendorExtension: text("The vendor's part of the world wide name."),
        wwnWithExtension: text("World wide name with the vendor's part."),
        hctl: text("SCSI address."),
      }),
    )
    .optional()
    .describe("Disks."),
  cpu: z
    .object({
      arch: text("x86_64 or aarch64."),
      model: text("Model."),
      clockMegahertz: z.number().optional().describe("Clock rate in MHz."),
      flags: z.array(z.string()).optional().describe("Features."),
      count: z.int().optional().describe("Logical processors."),
    })
    .optional()
    .describe("Processors."),
  hostname: text("Hostname that the machine reports."),
});
export type HardwareDetails = z.output<typeof HardwareDetails>;
