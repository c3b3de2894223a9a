import { type Micros, micros } from '#shared/spending/money.ts'
import { dearerWay, type InstanceTraffic, type TrafficPrices } from '#shared/spending/traffic.ts'

/** The fields of offers and instances with the price of traffic. */
interface PricedTraffic {
  inet_up_cost?: number
  inet_down_cost?: number
}

/** Dollars per GB; invalid prices are left out. */
export function trafficPrices({ inet_up_cost, inet_down_cost }: PricedTraffic): TrafficPrices {
  return { upCost: validPrice(inet_up_cost), downCost: validPrice(inet_down_cost) }
}

/** Dollars: no GB costs more, and one nonsensical price must not spoil every sum. */
const highestPrice = 1000

/** A price of a GB as the service gives it, in dollars; undefined when it cannot be one. */
export function validPrice(reported: number | undefined): number | undefined {
  return reported !== undefined && reported >= 0 && reported <= highestPrice ? reported : undefined
}

interface MeasuredTraffic extends PricedTraffic {
  inet_up_billed?: number
  inet_down_billed?: number
}

/** Seconds over which the cost of traffic per hour is averaged. */
const averagedOver = 3600
const kibPerGb = 1024 ** 2
/** KiB per second: a line of 100 Gb/s. */
const fastest = 100e9 / 8 / 1024

/** Hours of an instance over which the traffic that its renter expects is spread. */
const firstDay = 24

/**
 * The hourly cost of the traffic expected on the first day, at the more expensive direction, as the direction is
 * unknown.
 */
export function expectedPerHour(gb: number, prices: TrafficPrices): Micros {
  return micros((gb * dearerWay(prices)) / firstDay)
}

/** Whether the estimate still counts: it is the first day, and nothing was measured. */
export function isStillExpected(
  { spent = 0 }: Pick<InstanceTraffic, 'spent'>,
  startedAt: number | undefined,
  at: number,
): boolean {
  return spent === 0 && at - (startedAt ?? at) < firstDay * 3600
}

/**
 * An instance's traffic from its record, and the charge for it since `seen`. Only differences count: the first figure has no
 * time span, unless Berth rented the instance itself (`since`), whose counters began at 0. A counter that went back belongs
 * to a recreated instance. Undefined if the service does not report it. Times in epoch seconds of the account's time.
 */
export function trafficOf(
  record: MeasuredTraffic,
  seen: InstanceTraffic | undefined,
  at: number,
  since?: number,
): { traffic: InstanceTraffic | undefined; charged: Micros } {
  const costs = trafficPrices(record)
  const up = counter(record.inet_up_billed) ?? seen?.up
  const down = counter(record.inet_down_billed) ?? seen?.down
  if (up === undefined && down === undefined)
    return {
      traffic: costs.upCost === undefined && costs.downCost === undefined ? undefined : costs,
      charged: 0,
    }
  const fromZero = { ...seen, up: seen?.up ?? 0, down: seen?.down ?? 0, at: seen?.at ?? since }
  const before = since === undefined ? seen : fromZero
  const { upCost = before?.upCost ?? 0, downCost = before?.downCost ?? 0 } = costs
  const seconds = before?.at === undefined ? 0 : Math.max(0, at - before.at)
  const charged = cost(up, before?.up, upCost, seconds) + cost(down, before?.down, downCost, seconds)
  const weight = 1 - Math.exp(-seconds / averagedOver)
  const perHour = seconds > 0 ? (charged * 3600) / seconds : 0
  const earlier = before?.perHour ?? 0
  const traffic = {
    ...costs,
    up,
    down,
    at,
    spent: (before?.spent ?? 0) + charged,
    perHour: Math.round(earlier + (perHour - earlier) * weight),
  }
  return { traffic, charged }
}

function counter(kib: number | undefined): number | undefined {
  return kib !== undefined && kib >= 0 && Number.isFinite(kib) ? kib : undefined
}

/** What a counter's growth costs; one that no line could have caused costs nothing. */
function cost(
  kib: number | undefined,
  before: number | undefined,
  dollarsPerGb: number,
  seconds: number,
): Micros {
  if (kib === undefined || before === undefined || kib <= before) return 0
  if (kib - before > Math.max(seconds, 3600) * fastest) return 0
  return micros(((kib - before) / kibPerGb) * dollarsPerGb)
}
