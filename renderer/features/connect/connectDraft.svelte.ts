import { type ConnectService, serviceAt, vast } from './connectPreset.ts'

/** What was typed into the connect dialog: kept while the page lives, so that closing it loses nothing. */
class ConnectDraft {
  baseUrl = $state(vast.baseUrl)
  key = $state('')
  name = $state('')
  /** The address that was typed in, while the preset's stands in its place. */
  #typed = ''

  get service(): ConnectService {
    return serviceAt(this.baseUrl)
  }
  /** Fills in the service's address, which can be changed all the same. */
  set service(service: ConnectService) {
    if (service === this.service) return
    if (service === 'vast') this.#typed = this.baseUrl
    this.baseUrl = service === 'vast' ? vast.baseUrl : this.#typed
  }

  clear(): void {
    this.baseUrl = vast.baseUrl
    this.key = ''
    this.name = ''
    this.#typed = ''
  }
}

export const connectDraft = new ConnectDraft()
