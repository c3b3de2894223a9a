import { unitPrice } from '#shared/format/money.ts'
import { count, diskRoom, figure, gpuMemory, tenths } from '#shared/format/size.ts'
import { duration, moment } from '#shared/format/time.ts'
import type { OfferView } from '#shared/market/offer.ts'

/** One fact of an offer. */
export interface Fact {
  readonly name: string
  readonly value: string
}

/**
 * The facts of an offer in groups, as people compare them; missing ones are left out.
 * @param now epoch seconds of the account's time
 */
export function offerFacts(offer: OfferView, now: number): readonly (readonly Fact[])[] {
  const groups = [gpuFacts(offer), machineFacts(offer, now), priceFacts(offer)]
  return groups
    .map(group => group.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])))
    .filter(group => group.length > 0)
}

type Line = readonly [string, string | undefined]

function gpuFacts(offer: OfferView): Line[] {
  const { gpuMemory: memory, gpuCount = 1, compute, gpuBandwidth, nvlink, cuda, driver } = offer
  return [
    ['VRAM', memory === undefined ? undefined : vram(memory, gpuCount)],
    ['Compute', compute === undefined ? undefined : `${figure(compute, 1)} TFLOPS`],
    ['Memory bandwidth', gpuBandwidth === undefined ? undefined : `${count(gpuBandwidth)} GB/s each`],
    ['Between GPUs', gpuCount === 1 || nvlink === undefined ? undefined : between(nvlink)],
    ['To the host', pcie(offer.pcie)],
    ['CUDA, driver', joined([cuda === undefined ? undefined : tenths(cuda), driver])],
  ]
}

function machineFacts(offer: OfferView, now: number): Line[] {
  const { cpuCores, cpuName, memory, disk, diskName, diskBandwidth, directPorts, staticIp, lasts } = offer
  const cores = cpuCores === undefined ? undefined : `${count(cpuCores)} cores`
  const ram = memory === undefined ? undefined : gpuMemory(memory)
  const room = disk === undefined ? undefined : [diskRoom(disk), diskName].filter(Boolean).join(' ')
  return [
    ['CPU', [cores, cpuName].filter(Boolean).join(' ') || undefined],
    ['RAM', ram],
    ['Disk', joined([room, diskBandwidth === undefined ? undefined : `${count(diskBandwidth)} MB/s`])],
    ['Network', speeds(offer)],
    [
      'Ports',
      joined([
        directPorts === undefined ? undefined : `${count(directPorts)} open`,
        staticIp ? 'static IP' : undefined,
      ]),
    ],
    [
      'Available until',
      lasts === undefined ? undefined : `${duration(lasts)}, to ${moment(now + lasts, now)}`,
    ],
  ]
}

function priceFacts({ downCost, upCost, storageCost }: OfferView): Line[] {
  const price = (cost: number | undefined) =>
    cost === undefined ? '–' : cost === 0 ? 'free' : unitPrice(cost)
  const isPriced = downCost !== undefined || upCost !== undefined
  return [
    ['Traffic per GB, down · up', isPriced ? `${price(downCost)} · ${price(upCost)}` : undefined],
    ['Storage per GB and month', storageCost === undefined ? undefined : unitPrice(storageCost)],
  ]
}

function vram(memory: number, gpuCount: number): string {
  return gpuCount === 1
    ? gpuMemory(memory)
    : `${gpuMemory(memory)} each, ${count(Math.round(memory / 1024) * gpuCount)} GB`
}

function between(nvlink: number): string {
  return nvlink > 0 ? `NVLink, ${count(nvlink)} GB/s` : 'PCIe'
}

function pcie(way: OfferView['pcie']): string | undefined {
  if (!way) return undefined
  const { generation, lanes, bandwidth } = way
  const name = [generation && `PCIe ${figure(generation, 0)}.0`, lanes && `× ${lanes}`]
    .filter(Boolean)
    .join(' ')
  return joined([name, bandwidth === undefined ? undefined : `${figure(bandwidth, 1)} GB/s`])
}

function speeds({ down, up }: OfferView): string | undefined {
  const one = (value: number | undefined) =>
    value === undefined ? '–' : value >= 1000 ? `${tenths(value / 1000)} Gb/s` : `${count(value)} Mb/s`
  return down === undefined && up === undefined ? undefined : `${one(down)} down, ${one(up)} up`
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.filter(Boolean).join(', ') || undefined
}
