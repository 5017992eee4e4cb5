import type { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { conforming, type Shape } from "./conformed.ts";

/** Of what the views read of a machine's hardware. */
export const hardwareShape: Shape = {
  ...{ hostname: "text", ramMebibytes: "number" },
  systemVendor: { manufacturer: "text", productName: "text", serialNumber: "text" },
  cpu: { count: "number", model: "text", arch: "text" },
  firmware: { bios: { vendor: "text", version: "text", date: "text" } },
  storage: [
    {
      ...{ name: "text", alternateNames: ["text"], sizeBytes: "number", type: "text" },
      ...{ vendor: "text", model: "text", serialNumber: "text" },
    },
  ],
  nics: [
    {
      ...{ name: "text", mac: "text", ip: "text", pxe: "flag", speedGbps: "number" },
      lldp: { switchSystemName: "text", portID: "text" },
    },
  ],
};

/** A BareMetalHost, of which the views and the orders read these. */
export const hostOfShape = conforming<Partial<BareMetalHost>>({
  spec: {
    ...{ online: "flag", bootMode: "text", bootMACAddress: "text", externallyProvisioned: "flag" },
    ...{ bmc: { address: "text" }, inspectionMode: "text", automatedCleaningMode: "text" },
    consumerRef: { kind: "text", name: "text", namespace: "text" },
  },
  status: {
    ...{ poweredOn: "flag", waitingFor: "text", errorMessage: "text", operationalStatus: "text" },
    ...{ provisioning: { state: "text", bootMode: "text" }, hardware: hardwareShape },
    agent: { trust: "text", keyFingerprint: "text", tpm: { endorsementKey: "text" } },
  },
});
