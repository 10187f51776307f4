# fails: :2: "frobnicate" begins no line
frobnicate A
