/* SPDX-License-Identifier: MIT */
/* Numbers of public models' configs, and the ropes that they define. */
#ifndef POSENC_TESTS_FAMILIES_H
#define POSENC_TESTS_FAMILIES_H

#include "common/memory.h"
#include "inspect/models/model.h"

#include <stdlib.h>
#include <string.h>

/* Factors of Phi-3.5-mini, which its config.json has as f32 numbers. */
#define PHI_LONG                                                                                                       \
  "[1.0800000429153442,1.11,1.14,1.34,1.59,1.6,1.62,2.62,3.23,3.23,4.79,7.4,7.7,9.09,12.2,17.67,24.46,28.57,30.42,"    \
  "30.84,32.59,32.93,42.32,44.96,50.34,50.45,57.55,57.93,58.21,60.14,62.61,62.62,62.71,63.14,63.14,63.77,63.93,63.96," \
  "63.97,64.03,64.07,64.08,64.12,64.41,64.48,64.51,64.53,64.83999633789062]"
#define PHI_SHORT                                                                                                      \
  "[1,1.02,1.03,1.03,1.05,1.05,1.05,1.05,1.05,1.07,1.1,1.11,1.16,1.16,1.17,1.29,1.34,1.68,1.79,1.82,1.85,1.88,1.91,"   \
  "1.94,1.99,2.02,2.02,2.02,2.02,2.02,2.02,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.08,2.09,2.19,2.22,2.59,"     \
  "2.73,2.75,2.8399994373321533]"

typedef struct family {
  const char *name;   /* the repository on huggingface.co whose config.json has these numbers */
  const char *config; /* the keys that matter */
  const char *layer;
  double base;
  int64_t dim, head, positions;
  int64_t length;      /* length of a sequence */
  const char *scaling; /* beginning of its scaling */
  double attention;    /* its attention factor; 0 is the formula's */
  posenc_layout pairs;
} family;

#define HALVES POSENC_SPLIT
#define PAIRS POSENC_INTERLEAVED

static const family families[] = {
    {"meta-llama/Llama-2-7b-hf",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_scaling':null}",
     NULL, 1e4, 128, 128, 4096, 4096, "none", 0, HALVES},
    {"meta-llama/Meta-Llama-3-8B",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':8192,"
     "'rope_theta':500000.0,'rope_scaling':null}",
     NULL, 5e5, 128, 128, 8192, 8192, "none", 0, HALVES},
    {"meta-llama/Llama-3.1-8B",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'rope_theta':500000.0,'rope_scaling':{'factor':8.0,'low_freq_factor':1.0,'high_freq_factor':4.0,"
     "'original_max_position_embeddings':8192,'rope_type':'llama3'}}",
     NULL, 5e5, 128, 128, 131072, 131072, "llama3", 0, HALVES},
    {"meta-llama/Llama-3.2-1B",
     "{'model_type':'llama','hidden_size':2048,'num_attention_heads':32,'head_dim':64,"
     "'max_position_embeddings':131072,'rope_theta':500000.0,'rope_scaling':{'factor':32.0,'low_freq_factor':1.0,"
     "'high_freq_factor':4.0,'original_max_position_embeddings':8192,'rope_type':'llama3'}}",
     NULL, 5e5, 64, 64, 131072, 100, "llama3,factor=32", 0, HALVES},
    {"mistralai/Mistral-7B-v0.1",
     "{'model_type':'mistral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':10000.0,'sliding_window':4096}",
     NULL, 1e4, 128, 128, 32768, 1, "none", 0, HALVES},
    {"mistralai/Mistral-Nemo-Base-2407",
     "{'model_type':'mistral','hidden_size':5120,'num_attention_heads':32,'head_dim':128,"
     "'max_position_embeddings':131072,'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 131072, 1, "none", 0, HALVES},
    {"mistralai/Mixtral-8x7B-v0.1",
     "{'model_type':'mixtral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen2-7B",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':131072,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 131072, 1, "none", 0, HALVES},
    {"Qwen/Qwen2.5-7B-Instruct, with the rope_scaling of its README",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'rope_scaling':{'factor':4.0,'original_max_position_embeddings':32768,'type':'yarn'}}",
     NULL, 1e6, 128, 128, 32768, 1, "yarn,factor=4,original=32768", 0, HALVES},
    {"Qwen/Qwen2-VL-7B-Instruct",
     "{'model_type':'qwen2_vl','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'rope_scaling':{'type':'mrope','mrope_section':[16,24,24]}}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-0.6B",
     "{'model_type':'qwen3','hidden_size':1024,'num_attention_heads':16,'head_dim':128,"
     "'max_position_embeddings':40960,'rope_theta':1000000,'rope_scaling':null}",
     NULL, 1e6, 128, 128, 40960, 1, "none", 0, HALVES},
    {"google/gemma-2-9b",
     "{'model_type':'gemma2','hidden_size':3584,'num_attention_heads':16,'head_dim':256,"
     "'max_position_embeddings':8192,'rope_theta':10000.0}",
     NULL, 1e4, 256, 256, 8192, 1, "none", 0, HALVES},
    {"google/gemma-3-1b-pt, full attention",
     "{'model_type':'gemma3_text','hidden_size':1152,'num_attention_heads':4,'head_dim':256,"
     "'max_position_embeddings':32768,'rope_theta':1000000,'rope_local_base_freq':10000,'rope_scaling':null}",
     "full_attention", 1e6, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3-1b-pt, sliding attention",
     "{'model_type':'gemma3_text','hidden_size':1152,'num_attention_heads':4,'head_dim':256,"
     "'max_position_embeddings':32768,'rope_theta':1000000,'rope_local_base_freq':10000,'rope_scaling':null}",
     "sliding_attention", 1e4, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3-4b-it, whose text_config leaves out the class's defaults",
     "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':2560,"
     "'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024}}",
     "full_attention", 1e6, 256, 256, 131072, 1, "linear,factor=8", 0, HALVES},
    {"google/gemma-3-27b-it, sliding attention, without the scaling",
     "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':5376,'head_dim':128,"
     "'num_attention_heads':32,'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024}}",
     "sliding_attention", 1e4, 128, 128, 131072, 1, "none", 0, HALVES},
    {"the same in the form of transformers 5",
     "{'text_config':{'model_type':'gemma3_text','head_dim':128,'rope_parameters':{'full_attention':{'factor':8.0,"
     "'rope_theta':1000000.0,'rope_type':'linear'},'sliding_attention':{'rope_theta':10000.0,"
     "'rope_type':'default'}}}}",
     "full_attention", 1e6, 128, 128, 131072, 1, "linear,factor=8", 0, HALVES},
    {"google/gemma-4-12b, sliding attention",
     "{'text_config':{'model_type':'gemma4_text','head_dim':256,'global_head_dim':512,"
     "'rope_parameters':{'full_attention':{'partial_rotary_factor':0.25,'rope_theta':1000000.0,"
     "'rope_type':'proportional'},'sliding_attention':{'rope_theta':10000.0,'rope_type':'default'}}}}",
     "sliding_attention", 1e4, 256, 256, 0, 1, "none", 0, HALVES},
    {"microsoft/phi-2",
     "{'model_type':'phi','hidden_size':2560,'num_attention_heads':32,'max_position_embeddings':2048,"
     "'partial_rotary_factor':0.4,'rope_theta':10000.0,'rope_scaling':null}",
     NULL, 1e4, 32, 80, 2048, 1, "none", 0, HALVES},
    {"microsoft/Phi-3.5-mini-instruct, short",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'original_max_position_embeddings':4096,'rope_theta':10000.0,'rope_scaling':{'long_factor':" PHI_LONG
     ",'short_factor':" PHI_SHORT ",'type':'longrope'}}",
     NULL, 1e4, 96, 96, 131072, 4096, "longrope,factor=32,original=4096,factors=1:1.02:1.03", 0, HALVES},
    {"microsoft/Phi-3.5-mini-instruct, long",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'original_max_position_embeddings':4096,'rope_theta':10000.0,'rope_scaling':{'long_factor':" PHI_LONG
     ",'short_factor':" PHI_SHORT ",'type':'su'}}",
     NULL, 1e4, 96, 96, 131072, 4097, "longrope,factor=32,original=4096,factors=1.0800000429153442:1.11", 0, HALVES},
    {"microsoft/Phi-4-mini-instruct, whose head has 128 columns",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':24,'partial_rotary_factor':0.75,"
     "'max_position_embeddings':131072,'original_max_position_embeddings':4096,'rope_theta':10000.0,"
     "'rope_scaling':{'long_factor':" PHI_LONG ",'short_factor':" PHI_SHORT ",'type':'longrope'}}",
     NULL, 1e4, 96, 128, 131072, 4097, "longrope,factor=32,original=4096", 0, HALVES},
    {"microsoft/phi-4",
     "{'model_type':'phi3','hidden_size':5120,'num_attention_heads':40,'max_position_embeddings':16384,"
     "'original_max_position_embeddings':16384,'rope_theta':250000,'rope_scaling':null}",
     NULL, 250000, 128, 128, 16384, 1, "none", 0, HALVES},
    {"deepseek-ai/DeepSeek-V2",
     "{'model_type':'deepseek_v2','hidden_size':5120,'num_attention_heads':128,'qk_nope_head_dim':128,"
     "'qk_rope_head_dim':64,'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,"
     "'beta_slow':1,'factor':40,'mscale':0.707,'mscale_all_dim':0.707,'original_max_position_embeddings':4096,"
     "'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096,attention=1", 1, PAIRS},
    {"deepseek-ai/DeepSeek-V3",
     "{'model_type':'deepseek_v3','hidden_size':7168,'num_attention_heads':128,'qk_nope_head_dim':128,"
     "'qk_rope_head_dim':64,'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,"
     "'beta_slow':1,'factor':40,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':4096,"
     "'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096,attention=1", 1, PAIRS},
    {"EleutherAI/gpt-neox-20b",
     "{'model_type':'gpt_neox','hidden_size':6144,'num_attention_heads':64,'max_position_embeddings':2048,"
     "'rotary_emb_base':10000,'rotary_pct':0.25}",
     NULL, 1e4, 24, 96, 2048, 1, "none", 0, HALVES},
    {"EleutherAI/pythia-1.4b",
     "{'model_type':'gpt_neox','hidden_size':2048,'num_attention_heads':16,'max_position_embeddings':2048,"
     "'rotary_emb_base':10000,'rotary_pct':0.25}",
     NULL, 1e4, 32, 128, 2048, 1, "none", 0, HALVES},
    {"EleutherAI/gpt-j-6b", "{'model_type':'gptj','n_embd':4096,'n_head':16,'n_positions':2048,'rotary_dim':64}", NULL,
     1e4, 64, 256, 2048, 1, "none", 0, PAIRS},
    {"tiiuae/falcon-7b", "{'model_type':'falcon','hidden_size':4544,'num_attention_heads':71,'alibi':false}", NULL, 1e4,
     64, 64, 0, 1, "none", 0, HALVES},
    {"stabilityai/stablelm-2-1_6b",
     "{'model_type':'stablelm','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'partial_rotary_factor':0.25,'rope_theta':10000}",
     NULL, 1e4, 16, 64, 4096, 1, "none", 0, HALVES},
    {"CohereForAI/c4ai-command-r-v01",
     "{'model_type':'cohere','hidden_size':8192,'num_attention_heads':64,'max_position_embeddings':8192,"
     "'rope_theta':8000000.0}",
     NULL, 8e6, 128, 128, 8192, 1, "none", 0, PAIRS},
    {"answerdotai/ModernBERT-base, global",
     "{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'max_position_embeddings':8192,"
     "'global_rope_theta':160000.0,'local_rope_theta':10000.0,'position_embedding_type':'absolute'}",
     "full_attention", 160000, 64, 64, 8192, 1, "none", 0, HALVES},
    {"answerdotai/ModernBERT-base, local",
     "{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'max_position_embeddings':8192,"
     "'global_rope_theta':160000.0,'local_rope_theta':10000.0}",
     "sliding_attention", 1e4, 64, 64, 8192, 1, "none", 0, HALVES},
    {"openai/gpt-oss-20b",
     "{'model_type':'gpt_oss','hidden_size':2880,'num_attention_heads':64,'head_dim':64,"
     "'max_position_embeddings':131072,'rope_theta':150000,'rope_scaling':{'beta_fast':32.0,'beta_slow':1.0,"
     "'factor':32.0,'original_max_position_embeddings':4096,'rope_type':'yarn','truncate':false}}",
     NULL, 150000, 64, 64, 131072, 1, "yarn,factor=32,original=4096,truncate=no", 0, HALVES},
    {"allenai/OLMo-2-1124-7B",
     "{'model_type':'olmo2','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_theta':500000,'rope_scaling':null}",
     NULL, 5e5, 128, 128, 4096, 1, "none", 0, HALVES},
    {"lmsys/vicuna-7b-v1.5-16k",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_scaling':{'factor':4.0,'type':'linear'}}",
     NULL, 1e4, 128, 128, 4096, 1, "linear,factor=4", 0, HALVES},
    {"tencent/Hunyuan-A13B-Instruct, whose base is stretched by 1000",
     "{'model_type':'hunyuan_v1_moe','hidden_size':4096,'num_attention_heads':32,'attention_head_dim':128,"
     "'head_dim':128,'max_position_embeddings':32768,'rope_theta':10000.0,'rope_scaling':{'alpha':1000.0,"
     "'beta_fast':32,'beta_slow':1,'factor':1.0,'mscale':1.0,'mscale_all_dim':1.0,'type':'dynamic'}}",
     NULL, 1e4, 128, 128, 32768, 1, "dynamic,factor=1,original=2,length=2000", 0, HALVES},
    {"THUDM/glm-4-9b-chat-hf",
     "{'model_type':'glm','hidden_size':4096,'num_attention_heads':32,'head_dim':128,'partial_rotary_factor':0.5,"
     "'max_position_embeddings':131072,'rope_theta':10000.0}",
     NULL, 1e4, 64, 128, 131072, 1, "none", 0, PAIRS},
    {"THUDM/chatglm3-6b-32k",
     "{'model_type':'chatglm','hidden_size':4096,'num_attention_heads':32,'kv_channels':128,'seq_length':32768,"
     "'rope_ratio':50}",
     NULL, 5e5, 64, 128, 32768, 1, "none", 0, PAIRS},
    {"nomic-ai/nomic-bert-2048",
     "{'model_type':'nomic_bert','n_embd':768,'n_head':12,'n_positions':2048,'rotary_emb_base':1000,"
     "'rotary_emb_fraction':1.0,'rotary_emb_interleaved':false,'rotary_emb_scale_base':null}",
     NULL, 1000, 64, 64, 2048, 1, "none", 0, HALVES},
    {"moonshotai/Kimi-K2-Instruct",
     "{'model_type':'kimi_k2','qk_nope_head_dim':128,'qk_rope_head_dim':64,'max_position_embeddings':131072,"
     "'rope_theta':50000.0,'rope_scaling':{'type':'yarn','factor':32.0,'original_max_position_embeddings':4096,"
     "'beta_fast':1.0,'beta_slow':1.0,'mscale':1.0,'mscale_all_dim':1.0}}",
     NULL, 5e4, 64, 192, 131072, 1, "yarn,factor=32,original=4096,high=1", 1, PAIRS},
    {"moonshotai/Kimi-K2-Instruct-0905",
     "{'model_type':'kimi_k2','qk_nope_head_dim':128,'qk_rope_head_dim':64,'max_position_embeddings':262144,"
     "'rope_theta':50000.0,'rope_scaling':{'type':'yarn','factor':64.0,'original_max_position_embeddings':4096,"
     "'beta_fast':1.0,'beta_slow':1.0,'mscale':1.0,'mscale_all_dim':1.0}}",
     NULL, 5e4, 64, 192, 262144, 1, "yarn,factor=64,original=4096,high=1", 1, PAIRS},
    {"meta-llama/Llama-4-Scout-17B-16E-Instruct, a layer that has a rope",
     "{'model_type':'llama4_text','hidden_size':5120,'num_attention_heads':40,"
     "'max_position_embeddings':10485760,'rope_theta':500000.0,'head_dim':128,'num_hidden_layers':48,"
     "'no_rope_layers':[],'rope_scaling':{'rope_type':'llama3','factor':16.0,'low_freq_factor':1.0,"
     "'high_freq_factor':1.0,'original_max_position_embeddings':8192}}",
     "0", 5e5, 128, 128, 10485760, 1, "llama3,factor=16,high=1", 0, PAIRS},
    {"meta-llama/Llama-4-Maverick-17B-128E-Instruct",
     "{'model_type':'llama4_text','hidden_size':5120,'num_attention_heads':40,"
     "'max_position_embeddings':1048576,'rope_theta':500000.0,'head_dim':128,'num_hidden_layers':48,"
     "'rope_scaling':null}",
     NULL, 5e5, 128, 128, 1048576, 1, "none", 0, PAIRS},
    {"HuggingFaceTB/SmolLM3-3B",
     "{'model_type':'smollm3','hidden_size':2048,'num_attention_heads':16,'max_position_embeddings':65536,"
     "'rope_theta':5000000.0,'no_rope_layers':[1,1,1,0,1,1,1,0],'num_hidden_layers':8}",
     NULL, 5e6, 128, 128, 65536, 1, "none", 0, HALVES},
    {"allenai/Olmo-3-1025-7B, full attention",
     "{'model_type':'olmo3','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':65536,"
     "'rope_theta':500000.0,'layer_types':['sliding_attention','sliding_attention','sliding_attention',"
     "'full_attention'],'sliding_window':4096,'rope_scaling':{'rope_type':'yarn','factor':8.0,"
     "'original_max_position_embeddings':8192,'attention_factor':1.2079441541679836,'beta_fast':32.0,"
     "'beta_slow':1.0}}",
     "full_attention", 5e5, 128, 128, 65536, 1, "yarn,factor=8,original=8192,attention=1.20794", 1.2079441541679836,
     HALVES},
    {"allenai/Olmo-3-1025-7B, sliding attention, without the scaling",
     "{'model_type':'olmo3','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':65536,"
     "'rope_theta':500000.0,'layer_types':['sliding_attention','sliding_attention','sliding_attention',"
     "'full_attention'],'sliding_window':4096,'rope_scaling':{'rope_type':'yarn','factor':8.0,"
     "'original_max_position_embeddings':8192,'attention_factor':1.2079441541679836,'beta_fast':32.0,"
     "'beta_slow':1.0}}",
     "1", 5e5, 128, 128, 65536, 1, "none", 0, HALVES},
    {"deepseek-ai/DeepSeek-V3.2-Exp",
     "{'model_type':'deepseek_v32','qk_nope_head_dim':128,'qk_rope_head_dim':64,"
     "'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,'beta_slow':1,"
     "'factor':40,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':4096,'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096", 1, PAIRS},
    {"deepseek-ai/DeepSeek-V4-Flash, layers without compression",
     "{'model_type':'deepseek_v4','hidden_size':4096,'num_attention_heads':64,'head_dim':512,"
     "'qk_rope_head_dim':64,'rope_theta':10000,'compress_rope_theta':160000,'compress_ratios':[0,0,4,128],"
     "'max_position_embeddings':1048576,'rope_scaling':{'type':'yarn','factor':16,"
     "'original_max_position_embeddings':65536,'beta_fast':32,'beta_slow':1}}",
     "main", 1e4, 64, 512, 1048576, 1, "none", 0, PAIRS},
    {"deepseek-ai/DeepSeek-V4-Flash, compressed layers",
     "{'model_type':'deepseek_v4','hidden_size':4096,'num_attention_heads':64,'head_dim':512,"
     "'qk_rope_head_dim':64,'rope_theta':10000,'compress_rope_theta':160000,'compress_ratios':[0,0,4,128],"
     "'max_position_embeddings':1048576,'rope_scaling':{'type':'yarn','factor':16,"
     "'original_max_position_embeddings':65536,'beta_fast':32,'beta_slow':1}}",
     "3", 160000, 64, 512, 1048576, 1, "yarn,factor=16,original=65536,attention=1", 1, PAIRS},
    {"google/gemma-4-E2B-it, full attention",
     "{'text_config':{'model_type':'gemma4_text','max_position_embeddings':131072,"
     "'layer_types':['sliding_attention','sliding_attention','sliding_attention','sliding_attention',"
     "'full_attention'],'rope_parameters':{'full_attention':{'rope_type':'proportional',"
     "'partial_rotary_factor':0.25,'rope_theta':1000000.0},'sliding_attention':{'rope_type':'default',"
     "'rope_theta':10000.0}}}}",
     "4", 1e6, 512, 512, 131072, 1, "longrope,attention=1,factors=1:1:", 1, HALVES},
    {"google/gemma-4-E2B-it, sliding attention",
     "{'text_config':{'model_type':'gemma4_text','max_position_embeddings':131072,"
     "'layer_types':['sliding_attention','sliding_attention','sliding_attention','sliding_attention',"
     "'full_attention'],'rope_parameters':{'full_attention':{'rope_type':'proportional',"
     "'partial_rotary_factor':0.25,'rope_theta':1000000.0},'sliding_attention':{'rope_type':'default',"
     "'rope_theta':10000.0}}}}",
     "sliding_attention", 1e4, 256, 256, 131072, 1, "none", 0, HALVES},
    {"google/gemma-3n-E2B-it, sliding attention",
     "{'text_config':{'model_type':'gemma3n_text','head_dim':256,'rope_theta':1000000.0,"
     "'rope_local_base_freq':10000.0,'max_position_embeddings':32768,'num_hidden_layers':30}}",
     "0", 1e4, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3n-E2B-it, full attention",
     "{'text_config':{'model_type':'gemma3n_text','head_dim':256,'rope_theta':1000000.0,"
     "'rope_local_base_freq':10000.0,'max_position_embeddings':32768,'num_hidden_layers':30}}",
     "4", 1e6, 256, 256, 32768, 1, "none", 0, HALVES},
    {"a base of sliding layers that is not the class's",
     "{'model_type':'gemma3_text','head_dim':64,'rope_parameters':{'full_attention':{'rope_theta':1e6},"
     "'sliding_attention':{'rope_theta':5e4}}}",
     "sliding_attention", 5e4, 64, 64, 131072, 1, "none", 0, HALVES},
    {"CohereLabs/c4ai-command-a-03-2025, whose full layers have no rope",
     "{'model_type':'cohere2','hidden_size':12288,'num_attention_heads':96,'max_position_embeddings':131072,"
     "'rope_theta':50000.0,'head_dim':128,'sliding_window':4096,'num_hidden_layers':8}",
     NULL, 5e4, 128, 128, 131072, 1, "none", 0, PAIRS},
    {"LGAI-EXAONE/EXAONE-4.0-32B, whose full layers have no rope",
     "{'model_type':'exaone4','hidden_size':5120,'num_attention_heads':40,'max_position_embeddings':131072,"
     "'rope_theta':1000000.0,'head_dim':128,'sliding_window':4096,'sliding_window_pattern':'LLLG',"
     "'num_hidden_layers':64,'rope_scaling':{'rope_type':'llama3','factor':16.0,'low_freq_factor':1.0,"
     "'high_freq_factor':4.0,'original_max_position_embeddings':8192}}",
     NULL, 1e6, 128, 128, 131072, 1, "llama3,factor=16", 0, HALVES},
    {"LGAI-EXAONE/EXAONE-4.0-1.2B",
     "{'model_type':'exaone4','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':65536,"
     "'rope_theta':1000000.0,'head_dim':64,'sliding_window':null,'rope_scaling':{'rope_type':'llama3',"
     "'factor':16.0,'low_freq_factor':1.0,'high_freq_factor':4.0,'original_max_position_embeddings':8192}}",
     NULL, 1e6, 64, 64, 65536, 1, "llama3,factor=16", 0, HALVES},
    {"stepfun-ai/Step-3.5-Flash, full attention",
     "{'model_type':'step3p5','hidden_size':4096,'num_attention_heads':64,'head_dim':128,"
     "'max_position_embeddings':262144,'rope_theta':[5000000.0,10000.0,10000.0,10000.0],"
     "'partial_rotary_factors':[0.5,1.0,1.0,1.0],'layer_types':['full_attention','sliding_attention',"
     "'sliding_attention','sliding_attention'],'rope_scaling':{'rope_type':'llama3','factor':2.0,"
     "'low_freq_factor':1.0,'high_freq_factor':32.0,'original_max_position_embeddings':131072}}",
     "full_attention", 5e6, 64, 128, 262144, 1, "llama3,factor=2,original=131072,high=32", 0, HALVES},
    {"stepfun-ai/Step-3.5-Flash, sliding attention",
     "{'model_type':'step3p5','hidden_size':4096,'num_attention_heads':64,'head_dim':128,"
     "'max_position_embeddings':262144,'rope_theta':[5000000.0,10000.0,10000.0,10000.0],"
     "'partial_rotary_factors':[0.5,1.0,1.0,1.0],'layer_types':['full_attention','sliding_attention',"
     "'sliding_attention','sliding_attention'],'rope_scaling':{'rope_type':'llama3','factor':2.0,"
     "'low_freq_factor':1.0,'high_freq_factor':32.0,'original_max_position_embeddings':131072}}",
     "3", 1e4, 128, 128, 262144, 1, "none", 0, HALVES},
    {"XiaomiMiMo/MiMo-V2-Flash, full attention",
     "{'model_type':'mimo_v2_flash','hidden_size':4096,'num_attention_heads':64,'head_dim':192,"
     "'swa_head_dim':192,'partial_rotary_factor':0.334,'rope_theta':5000000,'swa_rope_theta':10000,"
     "'max_position_embeddings':262144,'hybrid_layer_pattern':[0,1,1,1,1,0]}",
     "5", 5e6, 64, 192, 262144, 1, "none", 0, HALVES},
    {"XiaomiMiMo/MiMo-V2-Flash, sliding attention",
     "{'model_type':'mimo_v2_flash','hidden_size':4096,'num_attention_heads':64,'head_dim':192,"
     "'swa_head_dim':192,'partial_rotary_factor':0.334,'rope_theta':5000000,'swa_rope_theta':10000,"
     "'max_position_embeddings':262144,'hybrid_layer_pattern':[0,1,1,1,1,0]}",
     "sliding_attention", 1e4, 64, 192, 262144, 1, "none", 0, HALVES},
    {"a base for each layer, as granite_swa has",
     "{'model_type':'granite_swa','hidden_size':2560,'num_attention_heads':20,'max_position_embeddings':32768,"
     "'rope_parameters':{'rope_type':'default','rope_theta':10000000.0},'layer_rope_theta':[10000.0,10000.0,0,"
     "10000000.0]}",
     "3", 1e7, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct",
     "{'model_type':'qwen3_next','hidden_size':2048,'num_attention_heads':16,'max_position_embeddings':262144,"
     "'rope_theta':10000000.0,'head_dim':256,'partial_rotary_factor':0.25,'layer_types':['linear_attention',"
     "'linear_attention','linear_attention','full_attention']}",
     NULL, 1e7, 64, 256, 262144, 1, "none", 0, HALVES},
    {"Qwen/Qwen3.5-27B",
     "{'text_config':{'model_type':'qwen3_5_text','head_dim':256,'max_position_embeddings':262144,"
     "'layer_types':['linear_attention','full_attention'],'rope_parameters':{'mrope_interleaved':true,"
     "'mrope_section':[11,11,10],'partial_rotary_factor':0.25,'rope_theta':10000000,'rope_type':'default'}}}",
     NULL, 1e7, 64, 256, 262144, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-VL-8B-Instruct",
     "{'text_config':{'model_type':'qwen3_vl_text','head_dim':128,'max_position_embeddings':262144,"
     "'rope_theta':5000000,'rope_scaling':{'mrope_interleaved':true,'mrope_section':[24,20,20],"
     "'rope_type':'default'}}}",
     NULL, 5e6, 128, 128, 262144, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-235B-A22B-Thinking-2507",
     "{'model_type':'qwen3_moe','hidden_size':4096,'num_attention_heads':64,'max_position_embeddings':262144,"
     "'rope_theta':5000000.0,'head_dim':128}",
     NULL, 5e6, 128, 128, 262144, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-30B-A3B",
     "{'model_type':'qwen3_moe','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':40960,"
     "'rope_theta':1000000.0,'head_dim':128,'rope_scaling':null}",
     NULL, 1e6, 128, 128, 40960, 1, "none", 0, HALVES},
    {"Qwen/QwQ-32B",
     "{'model_type':'qwen2','hidden_size':5120,'num_attention_heads':40,'max_position_embeddings':40960,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 40960, 1, "none", 0, HALVES},
    {"Qwen/Qwen2.5-7B-Instruct-1M",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':1010000,"
     "'rope_theta':10000000.0}",
     NULL, 1e7, 128, 128, 1010000, 1, "none", 0, HALVES},
    {"Qwen/Qwen2.5-VL-7B-Instruct",
     "{'model_type':'qwen2_5_vl','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':128000,"
     "'rope_theta':1000000.0,'rope_scaling':{'type':'mrope','mrope_section':[16,24,24]},'vocab_size':152064}",
     NULL, 1e6, 128, 128, 128000, 1, "none", 0, HALVES},
    {"zai-org/GLM-4.5",
     "{'model_type':'glm4_moe','hidden_size':5120,'num_attention_heads':96,'max_position_embeddings':131072,"
     "'rope_theta':1000000.0,'head_dim':128,'partial_rotary_factor':0.5}",
     NULL, 1e6, 64, 128, 131072, 1, "none", 0, HALVES},
    {"zai-org/GLM-4.6",
     "{'model_type':'glm4_moe','hidden_size':5120,'num_attention_heads':96,'max_position_embeddings':202752,"
     "'rope_theta':1000000.0,'head_dim':128,'partial_rotary_factor':0.5}",
     NULL, 1e6, 64, 128, 202752, 1, "none", 0, HALVES},
    {"zai-org/GLM-4-9B-0414",
     "{'model_type':'glm4','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':10000.0,'head_dim':128,'partial_rotary_factor':0.5}",
     NULL, 1e4, 64, 128, 32768, 1, "none", 0, PAIRS},
    {"MiniMaxAI/MiniMax-M2",
     "{'model_type':'minimax_m2','hidden_size':3072,'num_attention_heads':48,'max_position_embeddings':196608,"
     "'rope_theta':5000000.0,'head_dim':128,'rotary_dim':64}",
     NULL, 5e6, 64, 128, 196608, 1, "none", 0, HALVES},
    {"ByteDance-Seed/Seed-OSS-36B-Instruct",
     "{'model_type':'seed_oss','hidden_size':5120,'num_attention_heads':80,'max_position_embeddings':524288,"
     "'rope_theta':10000000.0,'head_dim':128,'rope_scaling':{'rope_type':'default'}}",
     NULL, 1e7, 128, 128, 524288, 1, "none", 0, HALVES},
    {"LiquidAI/LFM2-1.2B",
     "{'model_type':'lfm2','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':128000,"
     "'rope_theta':1000000.0,'layer_types':['conv','conv','full_attention','conv']}",
     NULL, 1e6, 64, 64, 128000, 1, "none", 0, HALVES},
    {"swiss-ai/Apertus-8B-2509",
     "{'model_type':'apertus','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':65536,"
     "'rope_theta':12000000.0,'rope_scaling':{'rope_type':'llama3','factor':8.0,'low_freq_factor':1.0,"
     "'high_freq_factor':4.0,'original_max_position_embeddings':8192}}",
     NULL, 12000000, 128, 128, 65536, 1, "llama3", 0, HALVES},
    {"baidu/ERNIE-4.5-21B-A3B-PT",
     "{'model_type':'ernie4_5_moe','hidden_size':2560,'num_attention_heads':20,"
     "'max_position_embeddings':131072,'rope_theta':500000.0}",
     NULL, 5e5, 128, 128, 131072, 1, "none", 0, PAIRS},
    {"tencent/Hunyuan-7B-Instruct",
     "{'model_type':'hunyuan_v1_dense','hidden_size':4096,'num_attention_heads':32,"
     "'max_position_embeddings':32768,'rope_theta':10000.0,'head_dim':128,'rope_scaling':{'alpha':1000.0,"
     "'factor':1.0,'type':'dynamic','beta_fast':32,'beta_slow':1,'mscale':1.0,'mscale_all_dim':1.0}}",
     NULL, 1e4, 128, 128, 32768, 1, "dynamic,factor=1,original=2,length=2000", 0, HALVES},
    {"mistralai/Ministral-3-8B-Instruct-2512",
     "{'text_config':{'model_type':'ministral3','head_dim':128,'max_position_embeddings':262144,"
     "'rope_parameters':{'beta_fast':32.0,'beta_slow':1.0,'factor':16.0,'llama_4_scaling_beta':0.1,"
     "'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':16384,'rope_theta':1000000.0,"
     "'rope_type':'yarn','type':'yarn'}}}",
     NULL, 1e6, 128, 128, 262144, 1, "yarn,factor=16,original=16384", 1, HALVES},
    {"mistralai/Mistral-Small-24B-Instruct-2501",
     "{'model_type':'mistral','hidden_size':5120,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':100000000.0,'head_dim':128}",
     NULL, 1e8, 128, 128, 32768, 1, "none", 0, HALVES},
    {"mistralai/Mistral-Small-3.1-24B-Instruct-2503",
     "{'model_type':'mistral','hidden_size':5120,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'rope_theta':1000000000.0,'head_dim':128}",
     NULL, 1e9, 128, 128, 131072, 1, "none", 0, HALVES},
    {"mistralai/Mistral-7B-Instruct-v0.3",
     "{'model_type':'mistral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"mistralai/Codestral-22B-v0.1",
     "{'model_type':'mistral','hidden_size':6144,'num_attention_heads':48,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'head_dim':128}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"ibm-granite/granite-3.3-8b-instruct",
     "{'model_type':'granite','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'rope_theta':10000000.0}",
     NULL, 1e7, 128, 128, 131072, 1, "none", 0, HALVES},
    {"nvidia/Minitron-4B-Base",
     "{'model_type':'nemotron','hidden_size':3072,'num_attention_heads':24,'max_position_embeddings':4096,"
     "'rope_theta':10000.0,'head_dim':128,'partial_rotary_factor':0.5}",
     NULL, 1e4, 64, 128, 4096, 1, "none", 0, HALVES},
    {"tiiuae/Falcon3-7B-Base",
     "{'model_type':'llama','hidden_size':3072,'num_attention_heads':12,'max_position_embeddings':32768,"
     "'rope_theta':1000042,'head_dim':256}",
     NULL, 1000042, 256, 256, 32768, 1, "none", 0, HALVES},
    {"01-ai/Yi-34B-200K",
     "{'model_type':'llama','hidden_size':7168,'num_attention_heads':56,'max_position_embeddings':200000,"
     "'rope_theta':5000000.0}",
     NULL, 5e6, 128, 128, 200000, 1, "none", 0, HALVES},
    {"codellama/CodeLlama-7b-hf",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':16384,"
     "'rope_theta':1000000.0,'rope_scaling':null}",
     NULL, 1e6, 128, 128, 16384, 1, "none", 0, HALVES},
    {"deepseek-ai/deepseek-coder-33b-instruct",
     "{'model_type':'llama','hidden_size':7168,'num_attention_heads':56,'max_position_embeddings':16384,"
     "'rope_theta':100000.0,'rope_scaling':{'factor':4.0,'type':'linear'}}",
     NULL, 1e5, 128, 128, 16384, 1, "linear,factor=4", 0, HALVES},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':131072,"
     "'rope_theta':10000.0}",
     NULL, 1e4, 128, 128, 131072, 1, "none", 0, HALVES},
    {"NousResearch/Yarn-Llama-2-7b-128k",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'rope_theta':10000.0,'rope_scaling':{'factor':32.0,'original_max_position_embeddings':4096,'type':'yarn',"
     "'finetuned':true}}",
     NULL, 1e4, 128, 128, 131072, 1, "yarn,factor=32,original=4096", 0, HALVES},
    {"bigcode/starcoder2-3b",
     "{'model_type':'starcoder2','hidden_size':3072,'num_attention_heads':24,'max_position_embeddings':16384,"
     "'rope_theta':999999.4420358813}",
     NULL, 999999.4420358813, 128, 128, 16384, 1, "none", 0, HALVES},
    {"microsoft/Phi-3-mini-4k-instruct",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_theta':10000.0,'rope_scaling':null}",
     NULL, 1e4, 96, 96, 4096, 1, "none", 0, HALVES},
    {"HuggingFaceTB/SmolLM2-1.7B",
     "{'model_type':'llama','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':8192,"
     "'rope_theta':130000}",
     NULL, 130000, 64, 64, 8192, 1, "none", 0, HALVES},
    {"TinyLlama/TinyLlama-1.1B-Chat-v1.0",
     "{'model_type':'llama','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':2048,"
     "'rope_theta':10000.0}",
     NULL, 1e4, 64, 64, 2048, 1, "none", 0, HALVES},
    {"meta-llama/Llama-3.3-70B-Instruct",
     "{'model_type':'llama','hidden_size':8192,'num_attention_heads':64,'max_position_embeddings':131072,"
     "'rope_theta':500000.0,'rope_scaling':{'rope_type':'llama3','factor':8.0,'low_freq_factor':1.0,"
     "'high_freq_factor':4.0,'original_max_position_embeddings':8192}}",
     NULL, 5e5, 128, 128, 131072, 1, "llama3", 0, HALVES},
    {"google/gemma-2b",
     "{'model_type':'gemma','hidden_size':2048,'num_attention_heads':8,'max_position_embeddings':8192,"
     "'rope_theta':10000.0,'head_dim':256}",
     NULL, 1e4, 256, 256, 8192, 1, "none", 0, HALVES},
    {"CohereLabs/aya-expanse-8b",
     "{'model_type':'cohere','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':8192,"
     "'rope_theta':10000.0}",
     NULL, 1e4, 128, 128, 8192, 1, "none", 0, PAIRS},
    {"stabilityai/stablelm-3b-4e1t",
     "{'model_type':'stablelm','hidden_size':2560,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_theta':10000.0,'partial_rotary_factor':0.25}",
     NULL, 1e4, 20, 80, 4096, 1, "none", 0, HALVES},
    {"meta-llama/Llama-3.1-8B, original/params.json",
     "{'dim':4096,'n_heads':32,'n_layers':32,'n_kv_heads':8,'norm_eps':1e-05,'rope_theta':500000.0,"
     "'use_scaled_rope':true,'multiple_of':1024,'vocab_size':128256}",
     NULL, 5e5, 128, 128, 0, 1, "llama3", 0, PAIRS},
    {"meta-llama/Llama-2-7b, params.json",
     "{'dim':4096,'n_heads':32,'n_layers':32,'norm_eps':1e-05,'multiple_of':256,'vocab_size':-1}", NULL, 1e4, 128, 128,
     0, 1, "none", 0, PAIRS},
    {"meta-llama/Llama-4-Scout-17B-16E, original/params.json",
     "{'dim':5120,'n_heads':40,'n_layers':48,'head_dim':128,'norm_eps':1e-05,'rope_theta':500000.0,"
     "'use_scaled_rope':true,'rope_scaling_factor':16.0,'rope_high_freq_factor':1.0,'nope_layer_interval':4}",
     "2", 5e5, 128, 128, 0, 1, "llama3,factor=16,high=1", 0, PAIRS},
    {"mistralai/Mistral-Small-3.1-24B, params.json",
     "{'dim':5120,'n_heads':32,'n_layers':40,'head_dim':128,'norm_eps':1e-05,'rope_theta':1000000000.0,"
     "'max_seq_len':131072}",
     NULL, 1e9, 128, 128, 131072, 1, "none", 0, PAIRS},
    {"mistralai/Ministral-3-8B, params.json",
     "{'dim':4096,'n_heads':32,'n_layers':34,'head_dim':128,'norm_eps':1e-05,'rope_theta':1000000.0,"
     "'yarn':{'original_max_position_embeddings':16384,'factor':16,'apply_scale':false,'beta':32,'alpha':1}}",
     NULL, 1e6, 128, 128, 0, 1, "yarn,factor=16,original=16384,attention=1", 1, PAIRS},
};

/* Opens a config that has ' for JSON's quotes; null if it is none. */
static inline model *open_config(const char *text, fault *why) {
  char *json = memory_copy_text(text);
  for (char *c = json; *c; c++)
    if (*c == '\'') *c = '"';
  model *m = model_open_memory(json, strlen(json), why);
  free(json);
  return m;
}

#endif
