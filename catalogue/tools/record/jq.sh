sample ports.json
rec 1
shown "jq '.ports | group_by(.country)[] | {country: .[0].country, berths: (map(.berths) | add), names: [.[].name]}' ports.json" "jq -C '.ports | group_by(.country)[] | {country: .[0].country, berths: (map(.berths) | add), names: [.[].name]}' ports.json"
sed -i "1s/.*/$ jq '.ports | group_by(.country)[]\n      | {country: .[0].country, berths: (map(.berths) | add),\n         names: [.[].name]}' ports.json/" "$out"
rec 2
shown "jq -r '.ports[] | select(.fuel) | [.name, .berths] | @csv' ports.json" "jq -r '.ports[] | select(.fuel) | [.name, .berths] | @csv' ports.json"; blank
shown "jq '[.ports[].berths] | {max: max, mean: (add / length)}' ports.json" "jq -C '[.ports[].berths] | {max: max, mean: (add / length)}' ports.json"; blank
shown "jq -c '.ports | sort_by(-.berths) | to_entries[] | [.key + 1, .value.name]' ports.json" "jq -C -c '.ports | sort_by(-.berths) | to_entries[] | [.key + 1, .value.name]' ports.json"; blank
shown "echo '{\"a\":{\"b\":[1,2]}}' | jq -c paths" "echo '{\"a\":{\"b\":[1,2]}}' | jq -C -c paths"
