/** Fields that Metal3's kinds share. Spellings, enums and bounds are Metal3's (metal3.io/v1alpha1), so that its manifests and clients fit. */
import { z } from "zod";
import { objectReference } from "../object-reference.ts";
import { flag, text } from "../optional.ts";

/** What clusterctl's move goes by: the objects move though nobody's cluster owns them, as Metal3's users have their definitions labelled. */
export const MOVES: Readonly<Record<string, string>> = {
  "clusterctl.cluster.x-k8s.io": "",
  "clusterctl.cluster.x-k8s.io/move": "",
};

export const GROUP = "metal3.io";

export const MAC = z.string().regex(/^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$/);
/** Metal3 lets text stand before and after the address here. */
export const LOOSE_MAC = z.string().regex(/[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}/);

const atomic = { "x-kubernetes-map-type": "atomic" };

/** Optional reference to a Secret. It is atomic: server-side apply owns it as a whole. */
export const secretReference = (about: string) =>
  z
    .object({ name: text("Name of the Secret."), namespace: text("Its namespace: the object's own, or empty.") })
    .optional()
    .describe(about)
    .meta(atomic);

export const consumerRef = objectReference
  .optional()
  .describe("Object that uses the host. While set, no other consumer may take it.")
  .meta(atomic);

export const image = z
  .object({
    url: z.string().describe("URL of the image."),
    checksum: text(
      "Checksum of the image, or the URL of a file with it. Required unless the image is a live ISO or from a registry.",
    ),
    checksumType: z
      .enum(["md5", "sha256", "sha512", "auto"])
      .optional()
      .describe("Algorithm of the checksum. Default: md5."),
    format: z.enum(["raw", "qcow2", "vdi", "vmdk", "live-iso"]).optional().describe("Format of the image."),
    ociAuthSecretName: text("Secret with a registry's credentials, for oci:// addresses."),
  })
  .optional();

export const customDeploy = z
  .object({ method: z.string().describe("Installer and profile, such as preseed/debian-13; or ipxe.") })
  .optional()
  .describe("How the host is installed if not by an image.");

/** Which disk: all that is said must hold. */
const hints = {
  deviceName: text("Device file, such as /dev/sda, or a path below /dev/disk/by-path."),
  hctl: text("SCSI address host:channel:target:lun."),
  minSizeGigabytes: z.int().min(0).optional().describe("Smallest size in gibibytes."),
  model: text("Part of the model's name."),
  rotational: flag("The disk is rotational."),
  serialNumber: text("Serial number."),
  vendor: text("Part of the vendor's name."),
  wwn: text("World wide name."),
  wwnVendorExtension: text("The vendor's part of the world wide name."),
  wwnWithExtension: text("World wide name with the vendor's part."),
};
export const rootDeviceHints = z.object(hints).optional().describe("Which disk to install to.");

export const raid = z
  .object({
    hardwareRAIDVolumes: z
      .array(
        z.object({
          controller: text("Controller to use."),
          level: z.enum(["0", "1", "2", "5", "6", "1+0", "5+0", "6+0"]).describe("RAID level."),
          name: z.string().max(64).optional().describe("Name of the volume."),
          numberOfPhysicalDisks: z.int().min(1).optional().describe("Number of disks."),
          physicalDisks: z.array(z.string()).optional().describe("Disks, by the controller's names."),
          rotational: flag("The disks are rotational."),
          sizeGibibytes: z.int().min(0).optional().describe("Size in gibibytes. Default: all free space."),
        }),
      )
      .nullable()
      .optional()
      .describe("Volumes of a RAID controller, in order; the first is the root."),
    softwareRAIDVolumes: z
      .array(
        z.object({
          level: z.enum(["0", "1", "1+0"]).describe("RAID level."),
          physicalDisks: z.array(z.object(hints)).min(2).optional().describe("Disks of the volume."),
          rootVolume: z.boolean().default(false).describe("The system is installed to this volume."),
          sizeGibibytes: z.int().min(0).optional().describe("Size in gibibytes. Default: all free space."),
        }),
      )
      .max(2)
      .nullable()
      .optional()
      .describe("Volumes of the kernel's software RAID."),
  })
  .optional()
  .describe("Volumes that are made before the host is available.");

export const firmware = z
  .object({
    simultaneousMultithreadingEnabled: flag("Simultaneous multithreading."),
    sriovEnabled: flag("SR-IOV."),
    virtualizationEnabled: flag("Virtualization support."),
  })
  .optional()
  .describe("Firmware settings.");

export const bootMode = z
  .enum(["UEFI", "UEFISecureBoot", "legacy"])
  .optional()
  .describe("Boot mode of the firmware. Default: UEFI.");
