import type { Architecture } from "./packages.ts";

/**
 * Which of the kernel's modules the agent takes: paths below `kernel/` of a folder or of a module without its ending. What they depend
 * on follows by itself. Left out is what no server needs to be reached, written and wiped.
 */
const CARDS: readonly string[] = [
  "drivers/net/ethernet",
  "drivers/net/phy",
  "drivers/net/mdio",
  "drivers/net/pcs",
  "drivers/net/hyperv",
  "drivers/net/vmxnet3",
  "drivers/net/virtio_net",
  "drivers/net/xen-netfront",
  // What virtual cards sit on.
  "drivers/hv/hv_vmbus",
  "drivers/pci/controller/pci-hyperv",
  "drivers/virtio/virtio_mmio",
];

/** What boards without ACPI need before anything else: most of it is for arm64. */
const BOARDS: readonly string[] = [
  "drivers/bus",
  "drivers/clk",
  "drivers/dma",
  "drivers/firmware",
  "drivers/gpio",
  "drivers/i2c/busses",
  "drivers/mfd",
  "drivers/pci/controller",
  "drivers/pci/host",
  "drivers/phy",
  "drivers/pinctrl",
  "drivers/regulator",
  "drivers/reset",
  "drivers/soc",
];

const OTHERS: readonly string[] = [
  "drivers/hv",
  // Disks and their controllers.
  "drivers/ata",
  "drivers/block/virtio_blk",
  "drivers/block/xen-blkfront",
  "drivers/block/mtip32xx",
  "drivers/message/fusion",
  "drivers/mmc",
  "drivers/nvme/host",
  "drivers/scsi",
  "drivers/ufs",
  "drivers/usb/dwc3",
  "drivers/usb/host",
  "drivers/usb/storage",
  "drivers/virtio",
  // The machine itself: BMC, random numbers, variables of the firmware.
  "drivers/char/hw_random",
  "drivers/char/ipmi",
  "fs/efivarfs",
  "fs/fat",
  "fs/nls/nls_ascii",
  "fs/nls/nls_cp437",
];

export const TAKEN: readonly string[] = [...CARDS, ...BOARDS, ...OTHERS];

/** What reaches the network, and so is in the part that the boot loader fetches. */
export const FIRST: Readonly<Record<Architecture, readonly string[]>> = {
  amd64: CARDS,
  arm64: [...CARDS, ...BOARDS],
};

/** Of these, not: cards of machines that are older than any that is still booted from a network. */
export const LATER: readonly string[] = [
  "drivers/net/ethernet/3com",
  "drivers/net/ethernet/8390",
  "drivers/net/ethernet/adaptec",
  "drivers/net/ethernet/agere",
  "drivers/net/ethernet/alteon",
  "drivers/net/ethernet/broadcom/b44",
  "drivers/net/ethernet/brocade",
  "drivers/net/ethernet/cavium/liquidio",
  "drivers/net/ethernet/chelsio/cxgb",
  "drivers/net/ethernet/chelsio/cxgb3",
  "drivers/net/ethernet/dlink",
  "drivers/net/ethernet/fujitsu",
  "drivers/net/ethernet/marvell/skge",
  "drivers/net/ethernet/micrel",
  "drivers/net/ethernet/myricom",
  "drivers/net/ethernet/natsemi",
  "drivers/net/ethernet/neterion",
  "drivers/net/ethernet/packetengines",
  "drivers/net/ethernet/qlogic/netxen",
  "drivers/net/ethernet/qlogic/qla3xxx",
  "drivers/net/ethernet/rdc",
  "drivers/net/ethernet/sfc/falcon",
  "drivers/net/ethernet/silan",
  "drivers/net/ethernet/sis",
  "drivers/net/ethernet/sun",
  "drivers/net/ethernet/tehuti",
  "drivers/net/ethernet/via",
];

/** Of all these, not: other kinds of networks, storage over networks, devices of desktops, tests. */
export const LEFT: readonly string[] = [
  "drivers/net/ethernet/amd/nmclan_cs",
  "drivers/net/ethernet/broadcom/cnic",
  "drivers/net/ethernet/chelsio/inline_crypto",
  "drivers/net/ethernet/mellanox/mlxsw",
  "drivers/net/ethernet/netronome",
  "drivers/net/ethernet/smsc/smc91c92_cs",
  "drivers/net/ethernet/xircom",
  "drivers/scsi/be2iscsi",
  "drivers/scsi/bnx2fc",
  "drivers/scsi/bnx2i",
  "drivers/scsi/ch",
  "drivers/scsi/csiostor",
  "drivers/scsi/cxgbi",
  "drivers/scsi/device_handler",
  "drivers/scsi/fcoe",
  "drivers/scsi/fnic",
  "drivers/scsi/iscsi_tcp",
  "drivers/scsi/pcmcia",
  "drivers/scsi/qedf",
  "drivers/scsi/qedi",
  "drivers/scsi/qla4xxx",
  "drivers/scsi/scsi_debug",
  "drivers/scsi/snic",
  "drivers/scsi/sr_mod",
  "drivers/scsi/st",
  "drivers/usb/host/isp1362-hcd",
  "drivers/usb/host/sl811_cs",
  "drivers/virtio/virtio_mem",
  "drivers/virtio/virtio_balloon",
];
