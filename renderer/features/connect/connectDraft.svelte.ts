import { type ConnectService, serviceAt, vast } from './connectPreset.ts'

/** The connect dialog's input, which survives closing it until the page is reloaded. */
class ConnectDraft {
  baseUrl = $state(vast.baseUrl)
  key = $state('')
  name = $state('')
  /** The address the user typed, while the preset's is shown instead. */
  #typed = ''

  get service(): ConnectService {
    return serviceAt(this.baseUrl)
  }
  /** Fills in the preset's address, which the user can still change. */
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
