/** How often one endpoint and method may be called: `calls` times (default once) within so many seconds. */
export interface Interval {
  seconds: number
  calls?: number
  /** Seconds for which the endpoint stays closed after a call that came too early. */
  penalty?: number
}

/** The public deployment's published limits, by method and path below /api/. Other endpoints have no limit. */
const published: Record<string, Interval> = {
  'GET v1/instances/': { seconds: 1 },
  'GET v0/instances/': { seconds: 1 },
  'GET v0/instances/:id/': { seconds: 2 },
  'PUT v0/instances/:id/': { seconds: 1 },
  'DELETE v0/instances/:id/': { seconds: 3 },
  'PUT v0/instances/bid_price/:id/': { seconds: 5.5 },
  'PUT v0/instances/reboot/:id/': { seconds: 1 },
  'PUT v0/asks/:offer/': { seconds: 4.5, penalty: 12 },
  'POST v0/bundles/': { seconds: 60, calls: 10 },
  'PUT v0/search/asks/': { seconds: 60, calls: 10 },
  'POST v0/instances/:id/ssh/': { seconds: 1 },
  'GET v0/ssh/': { seconds: 1 },
  'POST v0/ssh/': { seconds: 1 },
  'PUT v0/ssh/:key/': { seconds: 1 },
  'DELETE v0/instances/:id/ssh/:key/': { seconds: 2 },
  'GET v0/charges/': { seconds: 1 },
  'GET v1/invoices/': { seconds: 3 },
  'POST v0/volumes/search/': { seconds: 5.5 },
  'GET v0/volumes/': { seconds: 5.5 },
  'PUT v0/volumes/': { seconds: 5.5 },
  'DELETE v0/volumes/': { seconds: 5.5 },
  'GET v0/auth/apikeys/': { seconds: 1 },
  'POST v0/auth/apikeys/': { seconds: 2 },
  'DELETE v0/auth/apikeys/:key/': { seconds: 2 },
  'GET v0/template/': { seconds: 3 },
  'PUT v0/commands/copy_direct/': { seconds: 3.5 },
  'DELETE v0/commands/copy_direct/': { seconds: 3.5 },
  'POST v0/workergroups/': { seconds: 4 },
  'GET v0/workergroups/': { seconds: 2 },
  'PUT v0/machines/:machine/cleanup/': { seconds: 8 },
}

/** The interval of a route, by its name. */
export function publishedInterval(name: string): Interval | undefined {
  return published[name]
}
