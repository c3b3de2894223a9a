/** A `berth.yaml` to begin with. */
export const exampleSpec = `machine:
  gpu: [RTX 4090, RTX 3090]
  price: 0.60            # dollars per hour, at most
setup: pip install -r requirements.txt
run: python train.py
results: out             # downloaded at the end
stop: { hours: 2, dollars: 2 }
`
