/** What was typed into the connect dialog: kept while the page lives, so that closing it loses nothing. */
class ConnectDraft {
  baseUrl = $state('')
  key = $state('')
  name = $state('')

  clear(): void {
    this.baseUrl = ''
    this.key = ''
    this.name = ''
  }
}

export const connectDraft = new ConnectDraft()
