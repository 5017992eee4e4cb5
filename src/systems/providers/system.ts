import { z } from "zod";
import { turnController } from "../../inventory/claims/turn-controller.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { system } from "../system.ts";
import { inventoryAccess } from "./inventory-access.ts";
import { providerController } from "./provider-controller.ts";

const endpoint = (of: string, env: string) =>
  z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(`base URL of an API that is compatible with that of ${of}`)
    .meta({ env });

const PROVIDERS = "providers";

/** Accounts at machine providers, as objects that others name. */
export const providers = system({
  name: PROVIDERS,
  summary: "MachineProviders: accounts at clouds of machines, and whether they can be used",
  kinds: [[MachineProvider]],
  settings: z.strictObject({
    equinixEndpoint: endpoint("Equinix Metal", "EQUINIX_ENDPOINT"),
    latitudeEndpoint: endpoint("Latitude.sh", "LATITUDE_ENDPOINT"),
  }),
  endpoints: ({ equinixEndpoint, latitudeEndpoint }) => ({ equinix: equinixEndpoint, latitude: latitudeEndpoint }),
  parts: ({ accounts, account }) => ({
    controllers: [providerController(accounts, account, PROVIDERS), turnController(PROVIDERS)],
    access: inventoryAccess,
  }),
});
