/** An event in words; undefined for one that only this service knows. */
export function eventWords(event: string): string | undefined {
  switch (event) {
    case 'client:low_credit':
      return 'The credit runs low'
    case 'client:outbid':
      return 'Someone bids more for one of your instances'
    case 'host:machine_offline':
      return 'A machine that you offer goes offline'
    default:
      return undefined
  }
}
