# SPDX-License-Identifier: MIT
# Fish completion for posenc. All words come from the program itself.

function __posenc_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

function __posenc_commands
    posenc --help | string match -r -g '^  ([a-z]+) +([a-z].*)' | paste - -
end

# "--len<tab>number of positions, 0 or more"
function __posenc_options
    posenc (__posenc_command) --help 2>/dev/null |
        string replace -rf '^  (?:-[a-zA-Z], )?(--[a-z-]+)\S*\s*(.*)' '$1\t$2' | string match -v '*\t--*'
    posenc (__posenc_command) --help 2>/dev/null |
        string match -r '^  --[a-z-]+(?: --[a-z-]+)*$' | string trim | string split ' '
end

# The words of an option that takes one of several: "--dtype f32|f64" in the help.
function __posenc_values
    set -l option (commandline -opc)[-1]
    switch $option
        case --kernel
            posenc list --format names 2>/dev/null
        case --encoding
            posenc list --encodings 2>/dev/null | string match -r -g '^([a-z-]+): '
        case '--*'
            begin
                posenc (__posenc_command) --help
                posenc help problem
            end 2>/dev/null | string match -r -g -- "^  $option ([a-z0-9-]+(?:\|[a-z0-9-]+)+)" | head -n 1 | string split '|'
    end
end

function __posenc_takes_value
    string match -q -- '--*' (commandline -opc)[-1]; and test -n "$(__posenc_values)"
end

complete -c posenc -n 'not __posenc_command >/dev/null; or test -z "$(__posenc_command)"' -f -a '(__posenc_commands)'
complete -c posenc -n 'test -n "$(__posenc_command)"; and not __posenc_takes_value' -a '(__posenc_options)'
complete -c posenc -n __posenc_takes_value -f -a '(__posenc_values)'
