/** What the Metal API says, as far as the driver reads it. Every field but `id` may be absent: the API leaves out what it does not know yet. */

export interface WireDevice {
  id: string;
  hostname?: string | null;
  state?: string | null;
  tags?: readonly string[] | null;
  locked?: boolean | null;
  plan?: { slug?: string } | null;
  metro?: { code?: string } | null;
  ip_addresses?: readonly WireAddress[] | null;
  network_ports?: readonly WirePort[] | null;
  provisioning_percentage?: number | null;
  provisioning_events?: readonly WireEvent[] | null;
  termination_time?: string | null;
  created_at?: string | null;
}

export interface WireAddress {
  address?: string;
  address_family?: number;
  public?: boolean;
  management?: boolean;
}

export interface WirePort {
  id: string;
  name?: string;
  type?: "NetworkPort" | "NetworkBondPort";
  data?: { mac?: string | null; bonded?: boolean } | null;
  bond?: { id?: string; name?: string } | null;
  network_type?: string | null;
  disbond_operation_supported?: boolean;
  virtual_networks?: readonly WireVlan[] | null;
  native_virtual_network?: WireVlan | null;
}

/** A reference unless the request asked to include it: then `href` stands alone. */
export interface WireVlan {
  href?: string;
  id?: string;
  vxlan?: number;
  metro_code?: string;
}

/** A plan. A metro's own price stands beside its code, which comes with an included metro. */
export interface WirePlan {
  slug?: string;
  pricing?: { hour?: number } | null;
  available_in_metros?: readonly { code?: string; price?: { hour?: number } | null }[] | null;
}

export interface WireEvent {
  body?: string | null;
  interpolated?: string | null;
  created_at?: string | null;
}

export interface WireDevicePage {
  devices: readonly WireDevice[];
  meta?: { total?: number; current_page?: number; last_page?: number };
}

/** The body of an order, as the document's `DeviceCreateInput` with a metro. */
export interface WireOrder {
  metro: string;
  plan: string;
  operating_system: string;
  hostname: string;
  tags: readonly string[];
  billing_cycle?: string;
  description?: string;
  userdata?: string;
  ipxe_script_url?: string;
  always_pxe?: boolean;
  spot_instance?: boolean;
  spot_price_max?: number;
  hardware_reservation_id?: string;
  features?: readonly string[] | Readonly<Record<string, string>>;
  customdata?: object;
  user_ssh_keys?: readonly string[];
  project_ssh_keys?: readonly string[];
  ssh_keys?: readonly { key: string; label: string }[];
  no_ssh_keys?: boolean;
  public_ipv4_subnet_size?: number;
}

export interface WireUpdate {
  tags?: readonly string[];
  userdata?: string;
  ipxe_script_url?: string;
}

export interface WireAction {
  type: "power_on" | "power_off" | "reboot" | "reinstall";
  preserve_data?: boolean;
  deprovision_fast?: boolean;
}
