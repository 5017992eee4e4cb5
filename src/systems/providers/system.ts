import { z } from "zod";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { system } from "../system.ts";
import { providerController } from "./provider-controller.ts";

/** Accounts at machine providers, as objects that others name. */
export const providers = system({
  name: "providers",
  summary: "MachineProviders: accounts at clouds of machines, and whether they can be used",
  kinds: [[MachineProvider]],
  settings: z.strictObject({}),
  parts: ({ accounts, account }) => ({ controllers: [providerController(accounts, account, "providers")] }),
});
