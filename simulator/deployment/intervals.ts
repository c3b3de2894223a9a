import published from './intervals.json' with { type: 'json' }

/** How often one endpoint and method may be called: `calls` times (default once) within so many seconds. */
export interface Interval {
  seconds: number
  calls?: number
  /** Seconds for which the endpoint stays closed after a call that came too early. */
  penalty?: number
}

/** The public deployment's published limit of a route, by its method and path. Other endpoints have no limit. */
export function publishedInterval(name: string): Interval | undefined {
  const limits: Readonly<Record<string, Interval>> = published
  return limits[name]
}
